// SPDX-License-Identifier: Apache-2.0
#include "suspects/store_libpq.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "common/error.h"

#define LIBPQ_NAME "libpq.so.5"

const struct libpq *libpq;

static const struct {
    const char *name;
    size_t offset; // in struct libpq
} functions[] = {
    {"PQcancel", offsetof(struct libpq, cancel)},
    {"PQclear", offsetof(struct libpq, clear)},
    {"PQcmdTuples", offsetof(struct libpq, cmdTuples)},
    {"PQconnectdb", offsetof(struct libpq, connectdb)},
    {"PQconsumeInput", offsetof(struct libpq, consumeInput)},
    {"PQenterPipelineMode", offsetof(struct libpq, enterPipelineMode)},
    {"PQerrorMessage", offsetof(struct libpq, errorMessage)},
    {"PQexec", offsetof(struct libpq, exec)},
    {"PQexitPipelineMode", offsetof(struct libpq, exitPipelineMode)},
    {"PQfinish", offsetof(struct libpq, finish)},
    {"PQfreeCancel", offsetof(struct libpq, freeCancel)},
    {"PQgetCancel", offsetof(struct libpq, getCancel)},
    {"PQgetResult", offsetof(struct libpq, getResult)},
    {"PQgetlength", offsetof(struct libpq, getlength)},
    {"PQgetvalue", offsetof(struct libpq, getvalue)},
    {"PQisBusy", offsetof(struct libpq, isBusy)},
    {"PQpipelineSync", offsetof(struct libpq, pipelineSync)},
    {"PQprepare", offsetof(struct libpq, prepare)},
    {"PQresultErrorField", offsetof(struct libpq, resultErrorField)},
    {"PQresultStatus", offsetof(struct libpq, resultStatus)},
    {"PQsendQueryPrepared", offsetof(struct libpq, sendQueryPrepared)},
    {"PQsetNoticeReceiver", offsetof(struct libpq, setNoticeReceiver)},
    {"PQsetSingleRowMode", offsetof(struct libpq, setSingleRowMode)},
    {"PQsocket", offsetof(struct libpq, socket)},
    {"PQstatus", offsetof(struct libpq, status)},
};

struct error *libpq_load(void)
{
    static struct libpq loaded;

    if (libpq)
        return NULL;
    void *library = dlopen(LIBPQ_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return error_create(ERROR_NOT_FOUND,
                            "a PostgreSQL store needs libpq, which cannot be loaded: %s "
                            "(Debian's package libpq5)",
                            dlerror());
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = dlsym(library, functions[i].name);

        if (!symbol)
            return error_create(ERROR_NOT_FOUND, "'%s' has no function '%s'", LIBPQ_NAME,
                                functions[i].name);
        memcpy((char *)&loaded + functions[i].offset, &symbol, sizeof(symbol));
    }
    libpq = &loaded;
    return NULL;
}
