/** Whether a text is a mapping. */
import { inspectMapping } from '../../../queues/requests/mapping-inspection.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { DescribedSet } from '../../../src/custom-functions/open.ts';
import type { Diagnostic } from '../../../src/mapping/model/model.ts';
import { DEFAULT_BASE } from '../../../src/run/request.ts';
import { RequestFault } from '../../problem.ts';

/** @throws RequestFault mapping/syntax, mapping/invalid — with all diagnostics */
export async function checkMapping(
  fileName: string,
  text: string,
  base: string | undefined,
  functions: DescribedSet | undefined,
): Promise<void> {
  const { triplesMaps, diagnostics } = await inspectMapping([{ name: fileName, text }], base ?? DEFAULT_BASE, functions);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined && triplesMaps > 0) return;
  if (first === undefined) throw new Fault('mapping/invalid', `${fileName} has no triples map`);
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : '';
  const { line, column } = first.origin;
  throw new RequestFault(
    isSyntax(first) ? 'mapping/syntax' : 'mapping/invalid',
    `line ${line}, column ${column}: ${first.message}${more}`,
    {
      place: { mapping: `${fileName}:${line}:${column}` },
      hint: first.hint,
      members: { diagnostics: diagnostics.map(shownDiagnostic) },
    },
  );
}

const isSyntax = ({ code }: Diagnostic): boolean => code === 'syntax';

const shownDiagnostic = ({ severity, code, origin, message, hint }: Diagnostic): Readonly<Record<string, unknown>> => ({
  severity,
  code,
  line: origin.line,
  column: origin.column,
  ...(origin.key === undefined ? {} : { key: origin.key }),
  message,
  hint,
});
