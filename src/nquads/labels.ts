/**
 * The labels of blank nodes that runs write. They name the node: the same mapping over the same inputs gives the same labels in every run, and
 * no other mapping or input gives them. So a label of this form means the same node in every file (decision 88).
 *
 * - `q`, 16 digits of the triples map, 16 of mapping and input, `r` and the identity of the row: a node for each row. The identity is
 *   numbers with `_` between them, or the values of a key with `_` behind each. Behind it: `g` and `c` with numbers for collections.
 * - `q`, 32 digits of mapping and inputs, and a letter: `b` and a value, `c` and the label of a constant, `l` and a hash for the nodes of lists
 *   with named heads.
 * - `t` and 32 digits of a triple: its reifier.
 */
const NAME = /^(?:q[0-9a-f]{32}[a-z]\w*|t[0-9a-f]{32})$/;

/** Whether the label of a blank node, without `_:`, names the node in whatever file it stands. */
export const isName = (label: string): boolean => NAME.test(label);
