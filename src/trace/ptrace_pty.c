// SPDX-License-Identifier: Apache-2.0
#include "trace/ptrace_pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "common/error.h"

enum {
    PTY_DRAIN_MS = 200, /* silence after which another holder of the terminal is not waited for */
};

static void pty_close(struct pty *pty)
{
    if (pty->ours >= 0)
        close(pty->ours);
    if (pty->program >= 0)
        close(pty->program);
    *pty = (struct pty)PTY_INIT;
}

/* Raw, and as wide as the terminal that will show it. */
static bool pty_configure(const struct pty *pty)
{
    struct termios mode;
    if (tcgetattr(pty->program, &mode) < 0)
        return false;
    cfmakeraw(&mode);
    struct winsize size;
    if (ioctl(pty->output, TIOCGWINSZ, &size) == 0)
        ioctl(pty->program, TIOCSWINSZ, &size);
    return tcsetattr(pty->program, TCSANOW, &mode) == 0;
}

struct error *pty_open(struct pty *pty, int output)
{
    char name[128];
    *pty = (struct pty){-1, -1, output};
    pty->ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (pty->ours >= 0 && grantpt(pty->ours) == 0 && unlockpt(pty->ours) == 0 &&
        ptsname_r(pty->ours, name, sizeof(name)) == 0)
        pty->program = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (pty->program >= 0 && pty_configure(pty))
        return NULL;
    struct error *err = error_errno(errno, NULL, "cannot make a terminal for the output");
    pty_close(pty);
    return err;
}

static bool write_all(int descriptor, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t length = write(descriptor, data, size);
        if (length < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = descriptor, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return false;
        data += length;
        size -= (size_t)length;
    }
    return true;
}

bool pty_copy(struct pty *pty)
{
    char buffer[16384];
    ssize_t length = read(pty->ours, buffer, sizeof(buffer));
    if (length < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (length > 0 && write_all(pty->output, buffer, (size_t)length))
        return true;
    /* EIO: no holder is left. A failed write: the program's next ones shall fail as well. */
    close(pty->ours);
    pty->ours = -1;
    return false;
}

void pty_finish(struct pty *pty)
{
    if (pty->program >= 0)
        close(pty->program);
    pty->program = -1;
    while (pty->ours >= 0) {
        struct pollfd ready = {.fd = pty->ours, .events = POLLIN};
        int count = poll(&ready, 1, PTY_DRAIN_MS);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0 || !pty_copy(pty))
            break;
    }
    pty_close(pty);
}
