/** Formats that have no named graphs. */
import { Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';

/** Leaving the graph out would unite what the mapping keeps apart. @throws Fault mapping/invalid */
export function refuseGraph(format: string, graph: string): never {
  throw new Fault('mapping/invalid', `The mapping puts statements into the graph ${fromBytes(graph)}, and ${format} has no graphs`, {
    hint: 'Ask for the format nquads, trig or jsonld',
  });
}
