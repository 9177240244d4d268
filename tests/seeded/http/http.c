// SPDX-License-Identifier: Apache-2.0
/*
 * Reads requests as a web server would, several on one connection, and writes what it would answer.
 *
 *     http [-v HOST]...     -v: hosts that are served (else only "localhost")
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEADER_MOST 16
#define HOST_MOST   8
#define BODY_MOST   2048

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST, METHOD_PUT, METHOD_DELETE, METHOD_UNKNOWN };

static const char *const method_names[] = {"GET", "HEAD", "POST", "PUT", "DELETE"};

struct header {
    char *name, *value;
};

struct request {
    enum method method;
    char *target;
    int minor; // of HTTP/1.
    struct header header[HEADER_MOST];
    int header_count;
    char *body;
    size_t body_length;
    bool keep;
};

struct host {
    const char *name;
    int requests;
    size_t received;
};

struct connection {
    const char *at, *end;
    struct request request;
    struct host host[HOST_MOST];
    int host_count;
    int requests, errors;
};

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

// ---- Lines and words

// The next line without its end; NULL: there is none.
static char *line_next(struct connection *connection)
{
    const char *start = connection->at;
    if (start >= connection->end)
        return NULL;
    const char *stop = memchr(start, '\n', (size_t)(connection->end - start));
    if (stop == NULL)
        stop = connection->end;
    connection->at = stop < connection->end ? stop + 1 : stop;
    if (stop > start && stop[-1] == '\r')
        stop--;
    return must(strndup(start, (size_t)(stop - start)));
}

static char *trim(char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        text[--length] = '\0';
    return text;
}

// ---- Requests

static const char *header_find(const struct request *request, const char *name)
{
    for (int i = 0; i < request->header_count; i++) {
        if (strcasecmp(request->header[i].name, name) == 0)
            return request->header[i].value;
    }
    return NULL;
}

static void request_reset(struct request *request)
{
    for (int i = 0; i < request->header_count; i++) {
        free(request->header[i].name);
        free(request->header[i].value);
    }
    request->header_count = 0;
    free(request->target);
    request->target = NULL;
    free(request->body);
    request->body_length = 0;
    request->minor = 0;
    request->keep = false;
}

static enum method method_find(const char *name)
{
    for (int i = 0; i < METHOD_UNKNOWN; i++) {
        if (strcmp(method_names[i], name) == 0)
            return (enum method)i;
    }
    return METHOD_UNKNOWN;
}

static int parse_start(struct request *request, char *line)
{
    char *method = strtok(line, " ");
    char *target = strtok(NULL, " ");
    char *version = strtok(NULL, " ");
    if (method == NULL || target == NULL || version == NULL)
        return 400;
    if (strcmp(version, "HTTP/1.1") == 0)
        request->minor = 1;
    else if (strcmp(version, "HTTP/1.0") == 0)
        request->minor = 0;
    else
        return 505;
    request->method = method_find(method);
    request->target = must(strdup(target));
    return request->method == METHOD_UNKNOWN ? 501 : 0;
}

static int parse_header(struct request *request, char *line)
{
    char *colon = strchr(line, ':');
    if (colon == NULL || colon == line)
        return 400;
    if (request->header_count == HEADER_MOST)
        return 431;
    *colon = '\0';
    struct header *header = &request->header[request->header_count++];
    header->name = must(strdup(line));
    header->value = must(strdup(trim(colon + 1)));
    return 0;
}

static int parse_headers(struct connection *connection)
{
    int status = 0;
    char *line;
    while ((line = line_next(connection)) != NULL) {
        bool end = line[0] == '\0';
        if (!end && status == 0)
            status = parse_header(&connection->request, line);
        free(line);
        if (end)
            return status;
    }
    return 400;
}

static int read_body(struct connection *connection, size_t length)
{
    struct request *request = &connection->request;
    if (length > BODY_MOST)
        return 413;
    if (length > (size_t)(connection->end - connection->at))
        return 400;
    request->body = must(malloc(length + 1));
    memcpy(request->body, connection->at, length);
    request->body[length] = '\0';
    request->body_length = length;
    connection->at += length;
    return 0;
}

static int read_chunks(struct connection *connection)
{
    struct request *request = &connection->request;
    char *body = must(calloc(1, BODY_MOST + 1));
    size_t used = 0;
    for (;;) {
        char *line = line_next(connection);
        long size = line != NULL && isxdigit((unsigned char)line[0]) ? strtol(line, NULL, 16) : -1;
        free(line);
        if (size < 0 || size > BODY_MOST - (long)used || size > connection->end - connection->at) {
            free(body);
            return 400;
        }
        memcpy(body + used, connection->at, (size_t)size);
        used += (size_t)size;
        connection->at += size;
        free(line_next(connection));
        if (size == 0)
            break;
    }
    request->body = body;
    request->body_length = used;
    return 0;
}

static int parse_body(struct connection *connection)
{
    const struct request *request = &connection->request;
    const char *coding = header_find(request, "Transfer-Encoding");
    if (coding != NULL)
        return strcasecmp(coding, "chunked") == 0 ? read_chunks(connection) : 501;
    const char *length = header_find(request, "Content-Length");
    if (length == NULL)
        return 0;
    if (!isdigit((unsigned char)*length))
        return 400;
    return read_body(connection, strtoul(length, NULL, 10));
}

// ---- Answers

static bool keeps_alive(const struct request *request)
{
    const char *value = header_find(request, "Connection");
    if (value == NULL)
        return request->minor == 1;
    return strcasecmp(value, "keep-alive") == 0;
}

static struct host *host_select(struct connection *connection, const char *name)
{
    size_t length = strcspn(name, ":");
    for (int i = 0; i < connection->host_count; i++) {
        struct host *host = &connection->host[i];
        if (strlen(host->name) == length && strncasecmp(host->name, name, length) == 0)
            return host;
    }
    return NULL;
}

static unsigned digest(const char *bytes, size_t length)
{
    unsigned sum = 5381;
    for (size_t i = 0; i < length; i++)
        sum = sum * 33 + (unsigned char)bytes[i];
    return sum;
}

static void answer(const struct request *request, int status)
{
    printf("%d", status);
    if (status == 200) {
        printf(" %s %s", method_names[request->method], request->target);
        if (request->body_length > 0)
            printf(" %zu bytes %08x", request->body_length,
                   digest(request->body, request->body_length));
    }
    printf("%s\n", request->keep ? "" : " close");
}

static int dispatch(struct connection *connection)
{
    struct request *request = &connection->request;
    const char *name = header_find(request, "Host");
    const char *wanted = header_find(request, "If-Match");
    if (name == NULL && request->minor == 1)
        return 400;
    if (wanted != NULL && strchr(wanted, '"') == NULL)
        return 412;
    struct host *host = &connection->host[0];
    if (name != NULL || request->keep)
        host = host_select(connection, name);
    if (host == NULL)
        return 404;
    host->requests++;
    host->received += request->body_length;
    if (request->method == METHOD_DELETE && strcmp(request->target, "/") == 0)
        return 403;
    if ((request->method == METHOD_POST || request->method == METHOD_PUT) &&
        request->body_length == 0)
        return 411;
    return 200;
}

static bool serve(struct connection *connection)
{
    struct request *request = &connection->request;
    char *line = line_next(connection);
    if (line == NULL)
        return false;
    if (line[0] == '\0') {
        free(line);
        return true;
    }
    connection->requests++;
    int status = parse_start(request, line);
    free(line);
    int header_status = parse_headers(connection);
    if (status == 0)
        status = header_status;
    if (status == 0)
        status = parse_body(connection);
    request->keep = status == 0 && keeps_alive(request);
    if (status == 0)
        status = dispatch(connection);
    answer(request, status);
    bool more = request->keep;
    connection->errors += status >= 400;
    request_reset(request);
    return more;
}

static void read_input(struct connection *connection)
{
    size_t capacity = 65536;
    char *bytes = must(malloc(capacity));
    connection->at = bytes;
    connection->end = bytes + fread(bytes, 1, capacity, stdin);
}

int main(int argc, char **argv)
{
    static struct connection connection;
    for (int i = 1; i + 1 < argc && connection.host_count < HOST_MOST; i += 2) {
        if (strcmp(argv[i], "-v") == 0)
            connection.host[connection.host_count++].name = argv[i + 1];
    }
    if (connection.host_count == 0)
        connection.host[connection.host_count++].name = "localhost";
    read_input(&connection);
    const char *input = connection.at;
    while (serve(&connection))
        ;
    for (int i = 0; i < connection.host_count; i++)
        printf("%s: %d requests, %zu bytes\n", connection.host[i].name, connection.host[i].requests,
               connection.host[i].received);
    printf("%d requests, %d errors\n", connection.requests, connection.errors);
    free((char *)input);
    return 0;
}
