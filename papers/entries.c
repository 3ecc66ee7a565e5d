/*
 * entries.c: every table and figure that can be run again, in the order of the papers.
 */
#include "paper.h"

const paper_entry *const paper_entries[] = {
    NULL,
};
