/*
 * paper_list.h: okra paper list: every table and figure, and how it stands with it.
 */
#ifndef OKRA_PAPER_LIST_H
#define OKRA_PAPER_LIST_H

#include "cli.h"

#include "papers/paper.h"

int paper_list(cli_run *run, const paper_settings *settings);

#endif
