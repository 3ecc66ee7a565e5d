/*
 * old_driver.c: a libcuda.so.1 that knows nothing but its version, CUDA 10.2.
 */
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);

int cuInit(unsigned flags)
{
    return (int)flags * 0;
}

int cuDriverGetVersion(int *version)
{
    *version = 10020;
    return 0;
}
