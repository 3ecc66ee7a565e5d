/* Limits of control groups, in folders that look like those of the system. */
#include "harness.h"

#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* A file of the toy system, its folders with it. */
static void put(const char *path, const char *text)
{
    char name[300];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *f = fopen(name, "w");
    CHECK(f && fputs(text, f) >= 0);
    if (f) {
        fclose(f);
    }
}

static void begin(void)
{
    strcpy(root, "/tmp/okra-limit-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
}

TEST(version_2)
{
    begin();
    CHECK(okra_memory_limit_(root) == INT64_MAX); /* no groups at all */
    put("/proc/self/cgroup", "0::/jobs/one\n");
    CHECK(okra_memory_limit_(root) == INT64_MAX);
    put("/sys/fs/cgroup/jobs/one/memory.max", "max\n");
    CHECK(okra_memory_limit_(root) == INT64_MAX);
    put("/sys/fs/cgroup/jobs/one/memory.max", "4000000000\n");
    CHECK(okra_memory_limit_(root) == 4000000000);
    put("/sys/fs/cgroup/jobs/memory.max", "3000000000\n"); /* the group above */
    CHECK(okra_memory_limit_(root) == 3000000000);
    put("/proc/self/cgroup", "0::/of/the/host\n"); /* seen from inside a container */
    put("/sys/fs/cgroup/memory.max", "2000000000\n");
    CHECK(okra_memory_limit_(root) == 2000000000);
    put("/proc/self/cgroup", "0::/\n");
    CHECK(okra_memory_limit_(root) == 2000000000);
    end();
}

TEST(version_1)
{
    begin();
    put("/proc/self/cgroup", "12:cpu,cpuacct:/a\n7:hugetlb,memory:/b\n3:memoryless:/c\n");
    CHECK(okra_memory_limit_(root) == INT64_MAX);
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1\n"); /* of another group */
    put("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "2\n");
    CHECK(okra_memory_limit_(root) == INT64_MAX);
    put("/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK(okra_memory_limit_(root) == 9223372036854771712); /* its "no limit" */
    put("/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "500000000\n");
    CHECK(okra_memory_limit_(root) == 500000000);
    end();
}

TEST(damaged)
{
    begin();
    put("/proc/self/cgroup", "nothing of the kind\n0:\n\n");
    CHECK(okra_memory_limit_(root) == INT64_MAX);
    put("/proc/self/cgroup", "0::/a");
    put("/sys/fs/cgroup/a/memory.max", "lots\n");
    CHECK(okra_memory_limit_(root) == INT64_MAX);
    put("/sys/fs/cgroup/a/memory.max", "-5\n");
    CHECK(okra_memory_limit_(root) == INT64_MAX);
    end();
}

/* The default is three quarters of the least. */
TEST(the_default_follows)
{
    okra_int all = (okra_int)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    okra_int limit = okra_memory_limit_("");
    CHECK(okra_context_memory(NULL) == OKRA_MIN_(all, limit) / 4 * 3);
    CHECK(okra_context_memory(NULL) == okra_context_memory(NULL));
}

MAIN(RUN(version_2), RUN(version_1), RUN(damaged), RUN(the_default_follows))
