import type { ReactNode } from 'react';
import type { Attribute, TermType } from '../../core/document.ts';
import { fieldsOf } from '../../core/elements/expressions.ts';
import { edgesTo, recordOf } from '../../core/elements/records.ts';
import { Combo } from '../parts/fields/combo.tsx';
import { shortIri, writtenIri } from '../store/iris.ts';
import { useAccess } from './access.ts';
import { KeptAsText } from './entity.tsx';
import { Functions, LiveResult } from './functions/index.tsx';
import { LockedChoice, Section } from './section.tsx';
import { Example, ValueFields } from './value.tsx';
import { WORDS } from './words.ts';

const TYPES = (['literal', 'iri', 'uri', 'unsafe-iri', 'unsafe-uri', 'blank'] as const).map((one) => [one, WORDS.termTypes[one]] as const);

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const USUAL = ['string', 'integer', 'decimal', 'double', 'boolean', 'date', 'dateTime', 'time', 'gYear', 'duration', 'anyURI'];

export function AttributeView({ attribute }: { readonly attribute: Attribute }): ReactNode {
  const { document, tell } = useAccess();
  const { id, value, termType } = attribute;
  const [edge] = edgesTo(document, id);
  const input = fieldsOf(value)[0]?.input ?? recordOf(document, 'entity', edge?.from ?? '')?.input;
  return (
    <>
      {edge === undefined && (
        <Section title={WORDS.loose}>
          <p>{WORDS.looseHint}</p>
        </Section>
      )}
      <Section title={WORDS.value}>
        <ValueFields value={value} input={input} onChange={(next) => tell('set-expression', { id, value: next })} />
        <Example value={value} termType={termType} />
      </Section>
      <Functions target={{ of: id }} value={value} input={input} onChange={(next) => tell('set-expression', { id, value: next })}>
        <LiveResult attribute={attribute} />
      </Functions>
      {value.kind !== 'fresh' && (
        <LockedChoice<TermType>
          label={WORDS.termType}
          value={termType}
          options={TYPES}
          onChoose={(next) => tell('set-term-type', { id, termType: next })}
        />
      )}
      {termType === 'literal' ? <Kind attribute={attribute} /> : <p className="muted">{WORDS.onlyLiterals}</p>}
      <KeptAsText of={id} />
    </>
  );
}

/** Datatype or language. */
function Kind({ attribute: { id, datatype, language } }: { readonly attribute: Attribute }): ReactNode {
  const { document, readOnly, tell } = useAccess();
  const setDatatype = (text: string): string | undefined => {
    if (text.trim() === '') return tell('set-datatype', { id, datatype: undefined });
    const iri = writtenIri(document, text);
    return iri === undefined ? WORDS.wrongIri(text.trim()) : tell('set-datatype', { id, datatype: iri });
  };
  return (
    <>
      <Combo
        label={WORDS.datatype}
        value={datatype === undefined ? '' : shortIri(document, datatype)}
        placeholder={WORDS.noDatatype}
        options={USUAL.map((name) => ({ value: shortIri(document, `${XSD}${name}`) }))}
        readOnly={readOnly}
        onCommit={setDatatype}
      />
      <Combo
        label={WORDS.language}
        value={language ?? ''}
        hint={`${WORDS.languageHint} ${WORDS.exclusive}`}
        readOnly={readOnly}
        onCommit={(text) => tell('set-language', { id, language: text.trim() || undefined })}
      />
    </>
  );
}
