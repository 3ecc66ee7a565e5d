/*
 * choose.h: what fit and link are not told, chosen and told.
 */
#ifndef OKRA_CLI_CHOOSE_H
#define OKRA_CLI_CHOOSE_H

#include "cli.h"

/* Kernels and lambda as typed, "auto" where they are left open. */
typedef struct choose_open {
    const char *kx, *ky, *lambda;
    const char *effort; /* NULL: as usual */
} choose_open;

/* What was typed goes on to run->library, but for what is left open. */
okra_status choose_pass_on(cli_run *run, const choose_open *open) OKRA_CHECK;
/* Has the method of the options a lambda? */
bool choose_has_lambda(const cli_run *run);
/* Is anything left open? */
bool choose_needed(const cli_run *run, const choose_open *open);
/* run->library gets a value for all that is open; *selection what was searched, or NULL.
 */
okra_status choose_options(cli_run *run, const choose_open *open, const okra_data *x,
                           const okra_data *y, okra_selection **selection) OKRA_CHECK;
/* The same for links; their output kernel is never open. */
okra_status choose_links(cli_run *run, const okra_link_task *task,
                         const okra_link_settings *settings,
                         okra_selection **selection) OKRA_CHECK;
/* The command line that does the same without choosing, to be freed (NULL: no memory);
 * `lambda`: a list, or NULL: the value of run->library. */
char *choose_command(const cli_run *run, const char *lambda);
/* The command `okra fit` for the pairs of this command with these options. */
char *choose_fit_command(const cli_run *run, const okra_options *fit);
/* "leave-one-out on 1000 of 5000 pairs: 252 settings, ..."; n: pairs, or labelled nodes,
 * of the fit. */
void choose_summary(const okra_selection *selection, okra_int n, char *text, size_t size);
/* "error rate 0.024; the most frequent class: 0.37", or "" where it is not known. */
void choose_verdict(const okra_selection *selection, char *text, size_t size);

#endif
