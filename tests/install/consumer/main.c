#include <okra/okra.h>

#include <stdio.h>

int main(void)
{
    okra_context *context;
    if (okra_context_create(&context) != OKRA_OK) {
        fprintf(stderr, "%s\n", okra_message());
        return 1;
    }
    printf("okra %s\n", okra_version());
    okra_context_free(context);
    return 0;
}
