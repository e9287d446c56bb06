/**
 * Options of Node for a heap of so many megabytes, in tests that measure memory.
 *
 * Young objects have the room that Node 20 gives them. Node 24 and 26 give twice as much by themselves: with a heap of 64 MB a run then
 * takes up to 90 MB more and three times as long, since old objects have to leave room for all young ones.
 */
export const smallHeap = (megabytes: number): readonly string[] => [`--max-old-space-size=${megabytes}`, '--max-semi-space-size=16'];
