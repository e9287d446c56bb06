/** The formats of documents within values that the fields of views name. */
import type { Formulation } from '../../plan/algebra.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import { openTexts } from '../../sources/formats.ts';
import type { TextFormat } from '../../sources/source.ts';
import { readOptionsOf } from '../prepare/documents/open-scan.ts';
import type { RunRequest } from '../request.ts';

export type TextFormats = ReadonlyMap<Formulation | undefined, TextFormat>;

/** @param name of the input, for faults */
export async function openTextFormats({ iterations, source }: ScanPlan, name: string, request: RunRequest): Promise<TextFormats> {
  const steps = iterations.flatMap(({ pipelines }) => pipelines.flatMap((pipeline) => pipeline.steps));
  const nulls = source.kind === 'sql-pairs' ? [] : source.nulls;
  const namespaces = source.kind === 'file' ? source.namespaces : {};
  const formats = new Map<Formulation | undefined, TextFormat>();
  for (const { operator } of steps) {
    const formulation = operator.kind === 'unnest' && operator.items.of === 'records' ? operator.items.formulation : undefined;
    if (formulation === undefined || formats.has(formulation)) continue;
    const said = { formulation, path: '', nulls, namespaces, encoding: undefined, csv: undefined };
    const read = readOptionsOf({ dialect: 'rml' }, said, formulation, name, { ...request, inputOptions: undefined });
    formats.set(formulation, await openTexts(formulation, read));
  }
  return formats;
}
