/* A disk that fails, or a process that dies, at the n-th call for files in one folder. Preloaded into a process
   (LD_PRELOAD), it stands between the process and the C library; a call that a program makes by itself is not seen.

   disk_arm(folder, at, error) sets it up: `error` is an errno for the n-th call, or 0: the process is killed at it, a
   write after half of its bytes. FAILING_DISK=folder:at:error in the environment does the same for programs. It tells
   which call it was in FAILING_DISK_SAID, or in the file that disk_arm names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES 4096
static char folder[4096], said[4096];
static size_t folder_len;
static long at, error;
static atomic_long calls;
static atomic_char ours[FILES];

void disk_arm(const char *f, long n, long e, const char *s) {
    snprintf(folder, sizeof folder, "%s", f);
    snprintf(said, sizeof said, "%s", s);
    folder_len = strlen(folder);
    at = n;
    error = e;
    atomic_store(&calls, 0);
}

__attribute__((constructor)) static void from_environment(void) {
    const char *given = getenv("FAILING_DISK"), *s = getenv("FAILING_DISK_SAID");
    char f[4096];
    long n, e;
    if (given && s && sscanf(given, "%4095[^:]:%ld:%ld", f, &n, &e) == 3)
        disk_arm(f, n, e, s);
}

static int within(const char *path) {
    return folder_len && path && strncmp(path, folder, folder_len) == 0 &&
           (path[folder_len] == '/' || path[folder_len] == 0);
}

static int is_ours(int fd) { return fd >= 0 && fd < FILES && atomic_load(&ours[fd]); }

static void tell(const char *call) {
    int fd = syscall(SYS_openat, AT_FDCWD, said, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    syscall(SYS_write, fd, call, strlen(call));
    syscall(SYS_close, fd);
}

/* Whether this call is the one. */
static int hit(const char *call) {
    if (atomic_fetch_add(&calls, 1) + 1 != at)
        return 0;
    tell(call);
    return 1;
}

/* The call fails, or the process ends. */
static int fail(void) {
    if (!error)
        syscall(SYS_kill, getpid(), SIGKILL);
    errno = (int)error;
    return -1;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        REAL(name);                                                                                                    \
        mode_t mode = 0;                                                                                               \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                                                         \
            va_list more;                                                                                              \
            va_start(more, flags);                                                                                     \
            mode = va_arg(more, mode_t);                                                                               \
            va_end(more);                                                                                              \
        }                                                                                                              \
        int mine = within(path);                                                                                       \
        if (mine && hit("open"))                                                                                       \
            return fail();                                                                                             \
        int fd = real(path, flags, mode);                                                                              \
        if (fd >= 0 && fd < FILES)                                                                                     \
            atomic_store(&ours[fd], (char)mine);                                                                       \
        return fd;                                                                                                     \
    }
OPEN(open)
OPEN(open64)

#define WRITE(name, parameters, arguments)                                                                             \
    ssize_t name parameters {                                                                                          \
        REAL(name);                                                                                                    \
        if (is_ours(fd) && hit("write")) {                                                                             \
            if (!error) {                                                                                              \
                size /= 2;                                                                                             \
                (void)!real arguments;                                                                                 \
            }                                                                                                          \
            return fail();                                                                                             \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }
WRITE(write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
WRITE(pwrite, (int fd, const void *bytes, size_t size, off_t where), (fd, bytes, size, where))
WRITE(pwrite64, (int fd, const void *bytes, size_t size, off64_t where), (fd, bytes, size, where))

#define ON_FILE(name, parameters, arguments)                                                                           \
    int name parameters {                                                                                              \
        REAL(name);                                                                                                    \
        if (is_ours(fd) && hit(#name))                                                                                 \
            return fail();                                                                                             \
        return real arguments;                                                                                         \
    }
ON_FILE(fsync, (int fd), (fd))
ON_FILE(fdatasync, (int fd), (fd))
ON_FILE(ftruncate, (int fd, off_t size), (fd, size))
ON_FILE(ftruncate64, (int fd, off64_t size), (fd, size))
ON_FILE(fchmod, (int fd, mode_t mode), (fd, mode))
ON_FILE(fchown, (int fd, uid_t user, gid_t group), (fd, user, group))

#define ON_PATH(name, parameters, arguments)                                                                           \
    int name parameters {                                                                                              \
        REAL(name);                                                                                                    \
        if (within(path) && hit(#name))                                                                                \
            return fail();                                                                                             \
        return real arguments;                                                                                         \
    }
ON_PATH(rename, (const char *path, const char *to), (path, to))
ON_PATH(renameat, (int a, const char *path, int b, const char *to), (a, path, b, to))
ON_PATH(renameat2, (int a, const char *path, int b, const char *to, unsigned flags), (a, path, b, to, flags))
ON_PATH(link, (const char *path, const char *to), (path, to))
ON_PATH(linkat, (int a, const char *path, int b, const char *to, int flags), (a, path, b, to, flags))
ON_PATH(unlink, (const char *path), (path))

/* It is closed all the same, as Linux does. */
int close(int fd) {
    REAL(close);
    int mine = is_ours(fd), now = mine && hit("close");
    if (mine)
        atomic_store(&ours[fd], 0);
    if (now && !error)
        return fail();
    int done = real(fd);
    return now ? fail() : done;
}
