/*
 * rings.c: which bonds and atoms of a molecule are on a cycle. Cost: linear.
 */
#include "data/molecules/molecule.h"

/* Bridges are the bonds on no cycle: lowest reachable depth by an explicit stack. */
okra_status okra_molecule_mark_rings_(okra_molecule_ *m)
{
    okra_int n = m->atoms;
    OWNED int32_t *depth = NULL, *low = NULL, *next = NULL, *via = NULL, *stack = NULL;
    ZMAKE(depth, n);
    MAKE(low, n);
    MAKE(next, n);
    MAKE(via, n);
    MAKE(stack, n);
    for (okra_int k = 0; k < m->bonds; k++) {
        m->bond[k].ring = true;
    }
    for (okra_int root = 0; root < n; root++) {
        okra_int top = 0;
        if (depth[root]) {
            continue;
        }
        stack[top++] = (int32_t)root;
        depth[root] = low[root] = 1;
        next[root] = m->first[root];
        via[root] = -1;
        while (top > 0) {
            int32_t u = stack[top - 1];
            if (next[u] < m->first[u + 1]) {
                int32_t k = m->incident[next[u]++];
                int32_t v = okra_bond_other_(&m->bond[k], u);
                if (k == via[u]) {
                    continue;
                }
                if (depth[v]) {
                    low[u] = OKRA_MIN_(low[u], depth[v]);
                } else {
                    depth[v] = low[v] = depth[u] + 1;
                    next[v] = m->first[v];
                    via[v] = k;
                    stack[top++] = v;
                }
                continue;
            }
            top--;
            if (via[u] >= 0) {
                int32_t parent = okra_bond_other_(&m->bond[via[u]], u);
                low[parent] = OKRA_MIN_(low[parent], low[u]);
                m->bond[via[u]].ring = low[u] < depth[u];
            }
        }
    }
    for (okra_int i = 0; i < n; i++) {
        m->atom[i].ring = false;
    }
    for (okra_int k = 0; k < m->bonds; k++) {
        m->atom[m->bond[k].a].ring |= m->bond[k].ring;
        m->atom[m->bond[k].b].ring |= m->bond[k].ring;
    }
    return OKRA_OK;
}
