/**
 * N-Quads → RDF/JSON: one object, with a member for each subject.
 *
 * No member may come twice, so statements are grouped by subject and predicate before anything is written; what does not fit into memory
 * goes to a directory.
 *
 * @see https://www.w3.org/TR/rdf-json/
 */
import { unescapeTerm } from '../../core/text.ts';
import { type Groups, openGroups } from '../../nquads/group.ts';
import type { Statement } from '../../nquads/statement.ts';
import { eachStatement } from '../../nquads/terms.ts';
import type { QuadSink } from '../sink.ts';
import { name } from './json-ld.ts';
import { refuseGraph, refuseQuoted } from './refusals.ts';

/** For the statements that are grouped at a time. */
const MEMORY_BYTES = 64 * 2 ** 20;
/** Text is passed on in pieces of about this many characters. */
const PIECE_LENGTH = 256 * 1024;

/**
 * A sink that takes N-Quads and passes RDF/JSON to `inner`, which it owns.
 *
 * @param directory for what does not fit into memory: created when needed, used by nothing else, removed by commit and abort
 * @throws Fault mapping/invalid — a named graph, a quoted triple; sink/failed — a term that is not valid RDF, the disk
 */
export function rdfJson(inner: QuadSink, directory: string): QuadSink {
  const groups = openGroups({ directory, by: 'subject and predicate', memoryBudgetBytes: MEMORY_BYTES });
  return {
    async write(lines) {
      const statements: Statement[] = [];
      eachStatement(lines, (subject, predicate, object, graph) => {
        if (graph !== '') refuseGraph('RDF/JSON', graph);
        refuseQuoted('RDF/JSON', subject, predicate, object);
        // Groups are lines of fields between tabs, as in canonical N-Quads, which has no tab itself.
        statements.push({ subject, predicate, object: object.replaceAll('\t', '\\t'), graph, line: 0 });
      });
      await groups.add(statements);
    },
    async commit() {
      for await (const piece of documentOf(groups)) await inner.write(piece);
      await groups.remove();
      return inner.commit();
    },
    async abort() {
      await groups.remove();
      await inner.abort();
    },
  };
}

async function* documentOf(groups: Groups): AsyncGenerator<string, void, undefined> {
  let [subject, predicate] = ['', ''];
  let text = '{';
  for (let index = 0; index < groups.partitions; index++) {
    for await (const statements of groups.partition(index)) {
      for (const [s, properties] of bySubject(statements)) {
        // A subject that does not fit into memory comes in several arrays, and so does a predicate.
        for (const [p, values] of properties) {
          if (s !== subject) text += `${subject === '' ? '' : ']},'}\n${name(s)}:{${name(p)}:[`;
          else text += p === predicate ? ',' : `],${name(p)}:[`;
          [subject, predicate] = [s, p];
          text += values.join(',');
          if (text.length < PIECE_LENGTH) continue;
          yield text;
          text = '';
        }
      }
    }
  }
  yield `${text}${subject === '' ? '' : ']}'}\n}\n`;
}

/** Subject → predicate → values as texts of JSON. */
function bySubject(statements: readonly Statement[]): ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> {
  const subjects = new Map<string, Map<string, string[]>>();
  for (const { subject, predicate, object } of statements) {
    let properties = subjects.get(subject);
    if (properties === undefined) subjects.set(subject, (properties = new Map()));
    const values = properties.get(predicate);
    if (values === undefined) properties.set(predicate, [valueOf(object)]);
    else values.push(valueOf(object));
  }
  return subjects;
}

function valueOf(object: string): string {
  if (object[0] !== '"') return `{"type":"${object[0] === '<' ? 'uri' : 'bnode'}","value":${name(object)}}`;
  const end = object.lastIndexOf('"');
  const literal = `{"type":"literal","value":${JSON.stringify(unescapeTerm(object.slice(1, end)))}`;
  if (object[end + 1] === '@') return `${literal},"lang":"${object.slice(end + 2)}"}`;
  return object[end + 1] === '^' ? `${literal},"datatype":${name(object.slice(end + 3))}}` : `${literal}}`;
}
