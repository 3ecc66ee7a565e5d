/*
 * graphs.h: collections of labelled graphs and molecules, built object by object.
 *
 * An object of kind OKRA_GRAPHS has the groups
 *     nodes   label (int32); molecules also `atom` (int32, width 4): charge, attached
 *             hydrogens, isotope, whether on a ring
 *     edges   ends (int32, width 2, numbered within the object), label (int32)
 *     texts   the object as it was written (uint8)
 *     names   label texts of the object, each ended by NUL (uint8)
 * Edges are undirected, each is stored once. A label >= 0 is a number: the atomic number
 * of an atom; 1, 2, 3 for a bond, 4 when aromatic, 5 for a quadruple one; whatever
 * integer the file gave otherwise. A label < 0 is a text that begins at names[-1 - label]
 * of the object. So every object carries all that it needs, and collections can be mixed.
 */
#ifndef OKRA_GRAPHS_H_
#define OKRA_GRAPHS_H_

#include "data/molecules/molecule.h"

enum { OKRA_BOND_AROMATIC_ = 4, OKRA_BOND_QUADRUPLE_ = 5 };
enum { OKRA_GRAPH_NODES_MOST_ = 1 << 24, OKRA_GRAPH_EDGES_MOST_ = 1 << 27 };

typedef struct okra_graphs_builder_ {
    okra_ragged_builder_ nodes, edges, texts, names;
} okra_graphs_builder_;

/* Whoever begins abandons in the end, also where this fails. */
okra_status okra_graphs_begin_(okra_graphs_builder_ *b, bool molecules);
/* A whole molecule and the text it came from. */
okra_status okra_graphs_molecule_(okra_graphs_builder_ *b, const okra_molecule_ *m,
                                  const char *text, size_t length);
/* Piece by piece: labels, nodes, edges, then the text closes the object. */
/* The label of a text: itself if it is a whole number of at least 0, else its place among
 * the object's names. */
okra_status okra_graphs_label_(okra_graphs_builder_ *b, const char *text, size_t length,
                               int32_t *label);
okra_status okra_graphs_node_(okra_graphs_builder_ *b, int32_t label);
okra_status okra_graphs_edge_(okra_graphs_builder_ *b, int32_t from, int32_t to,
                              int32_t label);
okra_status okra_graphs_close_(okra_graphs_builder_ *b, const char *text, size_t length);
/* All objects as data; the builder is empty afterwards, whatever happens. */
okra_status okra_graphs_finish_(okra_graphs_builder_ *b, const char *source,
                                okra_data **out);
void okra_graphs_abandon_(okra_graphs_builder_ *b);

/* The text of object i, `length` bytes, not ended by NUL. */
const char *okra_graphs_text_(const okra_data *data, okra_int i, okra_int *length);

/* ---- networks whose nodes are objects ---- */

enum { OKRA_NETWORK_NODES_MOST_ = 1 << 28 };

/* An undirected edge with its weight. */
typedef struct okra_link_ {
    okra_int a, b;
    double weight;
} okra_link_;

/* A network of `nodes` nodes; edges come once each. `names` (may be NULL) are copied. A
 * self-loop, an edge that comes twice, an end that is no node and a weight that is not
 * positive are refused, by the number of the edge from 0 in *bad (may be NULL). */
okra_status okra_network_create_(okra_int nodes, const okra_link_ *edges, okra_int count,
                                 const char *const *names, okra_int *bad,
                                 okra_network_ **out);
/* The same nodes, names and edges? */
bool okra_network_equal_(const okra_network_ *a, const okra_network_ *b);
/* n nodes of a network (which is retained); codes == NULL: all of them in order. */
okra_status okra_nodes_create_(const okra_network_ *network, const okra_int *codes,
                               okra_int n, const char *source, okra_data **out);

#endif
