/** The function of a value: chosen from those of the service, with its arguments, and what it gives for the first record. */
import { type ReactNode, useEffect, useState } from 'react';
import type { StudioFunction } from '../../../../client/types.ts';
import type { ApplyFunction, ValueOf } from '../../../core/commands/elements/functions.ts';
import type { Argument, Attribute, Expression, Id } from '../../../core/document.ts';
import { edgesTo } from '../../../core/elements/records.ts';
import { Button } from '../../parts/button.tsx';
import { Combo } from '../../parts/fields/combo.tsx';
import { useVisit } from '../../store/visit.ts';
import { useAccess } from '../access.ts';
import { Section } from '../section.tsx';
import { ValueFields } from '../value.tsx';
import { WORDS } from '../words.ts';
import { resultOf } from './live-result.ts';

type Call = Extract<Expression, { kind: 'call' }>;

let known: Promise<readonly StudioFunction[]> | undefined;

/** The functions of the service, asked for once. */
function useFunctions(): readonly StudioFunction[] | 'failed' | undefined {
  const { service } = useVisit();
  const [found, setFound] = useState<readonly StudioFunction[] | 'failed' | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    known ??= service.studio.functions();
    known.then(
      (all) => !isGone && setFound(all),
      () => {
        // The next one who needs them asks again.
        known = undefined;
        if (!isGone) setFound('failed');
      },
    );
    return () => {
      isGone = true;
    };
  }, [service]);
  return found;
}

export interface FunctionsProps {
  readonly target: ValueOf;
  readonly value: Expression;
  readonly input: Id | undefined;
  /** @returns why it is refused */
  readonly onChange: (value: Expression) => string | undefined;
  readonly children?: ReactNode;
}

export function Functions({ target, value, input, onChange, children }: FunctionsProps): ReactNode {
  const { readOnly, tell } = useAccess();
  const functions = useFunctions();
  if (value.kind === 'fresh') return null;
  if (functions === 'failed') return <p role="alert">{WORDS.functionsFailed}</p>;
  const add = (written: string): string | undefined => {
    const text = written.trim().toLowerCase();
    const found = functions?.find(({ name, iri, aliases }) => [name, iri, ...aliases].some((one) => one.toLowerCase() === text));
    if (found === undefined) return WORDS.unknownFunction(written.trim());
    const call = applied(target, found);
    return call === undefined ? WORDS.noParameter(found.name) : tell('apply-function', call);
  };
  return (
    <Section title={WORDS.functions}>
      {value.kind === 'call' && <CallFields call={value} functions={functions ?? []} target={target} input={input} onChange={onChange} />}
      {children}
      {!readOnly && (
        <Combo
          label={WORDS.addFunction}
          value=""
          clears
          options={(functions ?? []).map(({ name, description }) => ({ value: name, detail: description }))}
          onCommit={add}
        />
      )}
    </Section>
  );
}

/** The value is the first argument; others that are needed begin with what an example has. */
function applied(target: ValueOf, { iri, parameters, examples }: StudioFunction): ApplyFunction | undefined {
  const [first, ...rest] = parameters;
  if (first === undefined) return undefined;
  const others = rest.flatMap((parameter, i): readonly Argument[] => {
    if (!parameter.required || parameter.default !== undefined) return [];
    const given = examples[0]?.given[i + 1];
    const text = typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean' ? `${given}` : '';
    return [{ parameter: parameter.iri, value: { kind: 'constant', value: text } }];
  });
  return { ...target, function: iri, parameter: first.iri, others };
}

function CallFields({
  call,
  functions,
  target,
  input,
  onChange,
}: Omit<FunctionsProps, 'value'> & { readonly call: Call; readonly functions: readonly StudioFunction[] }): ReactNode {
  const { readOnly, tell } = useAccess();
  const found = functions.find(({ iri, aliases }) => iri === call.function || aliases.includes(call.function));
  const name = found?.name ?? call.function;
  const setArgument = (parameter: string, value: Expression): string | undefined => {
    const has = call.arguments.some((one) => one.parameter === parameter);
    const all = has
      ? call.arguments.map((one) => (one.parameter === parameter ? { parameter, value } : one))
      : [...call.arguments, { parameter, value }];
    return onChange({ ...call, arguments: all });
  };
  const rows = found?.parameters ?? call.arguments.map(({ parameter }) => ({ iri: parameter, name: parameter, required: true }));
  return (
    <>
      <p>
        <strong>{name}</strong> {found?.description}
      </p>
      {rows.map((parameter) => {
        const given = call.arguments.find((one) => one.parameter === parameter.iri)?.value;
        const standard = 'default' in parameter ? parameter.default : undefined;
        return (
          <fieldset key={parameter.iri} className="argument">
            <legend>{WORDS.parameter(parameter.name, parameter.required)}</legend>
            {given === undefined ? (
              <Combo
                label={WORDS.constant}
                value=""
                placeholder={standard ?? WORDS.none}
                readOnly={readOnly}
                onCommit={(text) => (text === '' ? undefined : setArgument(parameter.iri, { kind: 'constant', value: text }))}
              />
            ) : (
              <ValueFields value={given} input={input} onChange={(value) => setArgument(parameter.iri, value)} />
            )}
          </fieldset>
        );
      })}
      {!readOnly && (
        <Button kind="quiet" onClick={() => tell('remove-function', target)}>
          {WORDS.removeFunction(name)}
        </Button>
      )}
    </>
  );
}

/** A person who types is not interrupted. */
const PAUSE_MS = 300;

/** What an attribute with a function is for the first record, as the service makes it. */
export function LiveResult({ attribute }: { readonly attribute: Attribute }): ReactNode {
  const { document, editor, readOnly } = useAccess();
  const { service } = useVisit();
  const [result, setResult] = useState<string | undefined>(undefined);
  const [edge] = edgesTo(document, attribute.id);
  const isCall = attribute.value.kind === 'call';
  useEffect(() => {
    if (!isCall || readOnly || edge === undefined) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      resultOf(service, editor.get().origin.name, document, attribute, edge, controller.signal).then(
        (text) => !controller.signal.aborted && setResult(text ?? WORDS.noResult),
        // The preview below says what is wrong.
        () => !controller.signal.aborted && setResult(WORDS.noResult),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [isCall, readOnly, edge, document, attribute, service, editor]);
  if (!isCall || readOnly || edge === undefined) return null;
  return <output className="live">{result === undefined ? WORDS.calculating : WORDS.example(result)}</output>;
}
