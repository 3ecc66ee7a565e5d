/* Limits of control groups, in folders that look like those of the system. */
#include "harness.h"

#include <limits.h>
#include <sched.h>
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

TEST(processors_of_version_2)
{
    begin();
    CHECK(okra_processor_limit_(root) == INT_MAX);
    put("/proc/self/cgroup", "0::/jobs/one\n");
    put("/sys/fs/cgroup/jobs/one/cpu.max", "max 100000\n");
    CHECK(okra_processor_limit_(root) == INT_MAX);
    put("/sys/fs/cgroup/jobs/one/cpu.max", "400000 100000\n");
    CHECK(okra_processor_limit_(root) == 4);
    put("/sys/fs/cgroup/jobs/cpu.max", "290000 100000\n"); /* the group above; 2.9 */
    CHECK(okra_processor_limit_(root) == 2);
    put("/sys/fs/cgroup/cpu.max", "50000 100000\n"); /* half of one is one thread */
    CHECK(okra_processor_limit_(root) == 1);
    put("/sys/fs/cgroup/cpu.max", "lots 100000\n");
    put("/sys/fs/cgroup/jobs/cpu.max", "300000\n"); /* without its period */
    CHECK(okra_processor_limit_(root) == 4);
    put("/sys/fs/cgroup/jobs/one/cpu.max", "-1 0\n");
    CHECK(okra_processor_limit_(root) == INT_MAX);
    end();
}

TEST(processors_of_version_1)
{
    begin();
    put("/proc/self/cgroup", "12:cpu,cpuacct:/a\n3:cpuset:/c\n0::/\n");
    put("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "100000\n"); /* of another group */
    put("/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
    CHECK(okra_processor_limit_(root) == INT_MAX);
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n"); /* its "no limit" */
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    CHECK(okra_processor_limit_(root) == INT_MAX);
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "350000\n");
    CHECK(okra_processor_limit_(root) == 3);
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n"); /* and version 2 beside it */
    CHECK(okra_processor_limit_(root) == 2);
    end();
}

TEST(the_default_follows_the_affinity)
{
    cpu_set_t before, one;
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    int limit = okra_processor_limit_("");
    CHECK(okra_context_threads(NULL) == OKRA_MIN_(CPU_COUNT(&before), limit));
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &before)) {
            CPU_SET(i, &one);
        }
    }
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(okra_context_threads(NULL) == 1);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

/* The default is three quarters of the least. */
TEST(the_default_follows)
{
    okra_int all = (okra_int)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    okra_int limit = okra_memory_limit_("");
    CHECK(okra_context_memory(NULL) == OKRA_MIN_(all, limit) / 4 * 3);
    CHECK(okra_context_memory(NULL) == okra_context_memory(NULL));
}

MAIN(RUN(version_2), RUN(version_1), RUN(damaged), RUN(processors_of_version_2),
     RUN(processors_of_version_1), RUN(the_default_follows_the_affinity),
     RUN(the_default_follows))
