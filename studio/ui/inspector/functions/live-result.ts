/** What a function gives: a preview of a mapping with this one value, of the first records. */
import type { QuadmillClient } from '../../../../client/client.ts';
import type { Attribute, Edge, StudioDocument } from '../../../core/document.ts';
import { recordOf } from '../../../core/elements/records.ts';
import { trialOf } from '../../parts/trials/trial.ts';

const PREDICATE = 'urn:quadmill:value';
const RECORDS = 10;

/** @returns undefined: the first records have no value */
export async function resultOf(
  { studio }: QuadmillClient,
  name: string,
  document: StudioDocument,
  attribute: Attribute,
  edge: Edge,
  signal: AbortSignal,
): Promise<string | undefined> {
  const entity = recordOf(document, 'entity', edge.from);
  const input = entity && recordOf(document, 'input', entity.input);
  if (entity === undefined || input === undefined) return undefined;
  const trial = await trialOf(name, document, [
    input,
    { ...entity, classes: [], graphs: [], parts: ['Value'] },
    attribute,
    { ...edge, predicates: [PREDICATE], graphs: [], part: 'Value' },
  ]);
  if (trial === undefined || signal.aborted) return undefined;
  const { statements } = await studio.preview({ ...trial, records: RECORDS }, { signal });
  const [first] = statements.map((statement) => statement.text);
  return first?.split(` <${PREDICATE}> `)[1]?.replace(/ \.$/, '');
}
