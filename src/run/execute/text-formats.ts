/** The formats of documents within values that the fields of views name. */
import type { Formulation } from '../../plan/algebra.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import { READERS } from '../../sources/formats.ts';
import type { TextFormat } from '../../sources/source.ts';
import type { RunRequest } from '../request.ts';

export type TextFormats = ReadonlyMap<Formulation | undefined, TextFormat>;

/** @param name of the input, for faults */
export async function openTextFormats({ iterations, source }: ScanPlan, name: string, request: RunRequest): Promise<TextFormats> {
  const steps = iterations.flatMap(({ pipelines }) => pipelines.flatMap((pipeline) => pipeline.steps));
  const formats = new Map<Formulation | undefined, TextFormat>();
  for (const { operator } of steps) {
    const formulation = operator.kind === 'unnest' && operator.items.of === 'records' ? operator.items.formulation : undefined;
    if (formulation === undefined || formats.has(formulation)) continue;
    const open = await READERS[formulation].texts();
    const format = await open({
      name,
      dialect: 'rml',
      nulls: source.kind === 'sql-pairs' ? [] : source.nulls,
      encoding: undefined,
      namespaces: source.kind === 'file' ? source.namespaces : {},
      xmlDefaultNamespace: request.xmlDefaultNamespace,
      maxRecordBytes: request.maxRecordBytes,
      ...(request.limits.depth === 0 ? {} : { maxDepth: request.limits.depth }),
    });
    formats.set(formulation, format);
  }
  return formats;
}
