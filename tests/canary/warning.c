/* Code that each deserves one warning; the build's flags must refuse every part. */
#if defined WARN_conversion
int canary(long x);
int canary(long x)
{
    int y = x;
    return y;
}
#elif defined WARN_shadow
int canary(int x);
int canary(int x)
{
    {
        int x = 1;
        (void)x;
    }
    return x;
}
#elif defined WARN_missing_prototypes
int canary(int x)
{
    return x;
}
#elif defined WARN_switch_enum
enum colour { RED, BLUE };
int canary(enum colour c);
int canary(enum colour c)
{
    switch (c) {
    case RED:
        return 1;
    default:
        return 0;
    }
}
#elif defined WARN_cast_qual
char *canary(const char *text);
char *canary(const char *text)
{
    return (char *)text;
}
#endif
