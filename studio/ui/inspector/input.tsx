import type { ReactNode } from 'react';
import { splitSheet } from '../../../src/core/input/formats.ts';
import { saidOf } from '../../client/service.ts';
import type { CsvDialect, Id, Input, Location } from '../../core/document.ts';
import { emptyIsNone, whyNoSwitch } from '../../core/empty-texts.ts';
import { Combo } from '../parts/fields/combo.tsx';
import { hasSwitch } from '../parts/fields/rows.ts';
import { Switch } from '../parts/switch.tsx';
import { useEditorState, useSamples } from '../store/context.tsx';
import { useStore } from '../store/store.ts';
import { useAccess } from './access.ts';
import { Fact } from './section.tsx';
import { WORDS } from './words.ts';

export function InputView({ input }: { readonly input: Input }): ReactNode {
  const { readOnly, locked, tell } = useAccess();
  const { id, name, location, format } = input;
  const place = locationField(location);
  const others = input.nulls.filter((text) => text !== '');
  const relocate = (text: string): string | undefined =>
    text.trim() === '' ? WORDS.noLocation : tell('relocate-input', { id, location: place.moved(text.trim()) });
  return (
    <>
      <Combo label={WORDS.name} value={name} readOnly={readOnly} onCommit={(wanted) => tell('rename', { id, name: wanted })} />
      <Combo label={place.label} value={place.text} readOnly={readOnly} onCommit={relocate} />
      {(format === 'xlsx' || format === 'ods') && <Sheet input={input} />}
      <Unread input={id} />
      <Fact label={WORDS.format} value={format} />
      {input.compression !== undefined && <Fact label={WORDS.compression} value={input.compression} />}
      {hasSwitch(input) && (
        <Switch
          name={WORDS.groupingOf(name)}
          label={WORDS.grouped}
          on={input.grouped}
          disabled={locked}
          onSwitch={(grouped) => tell('set-grouping', { id, grouped })}
        />
      )}
      {format === 'csv' && <Dialect input={input} />}
      <EmptyTexts input={input} />
      {others.length > 0 && <Fact label={WORDS.nulls} value={others.map((one) => JSON.stringify(one)).join(', ')} />}
    </>
  );
}

/** Whether empty texts are values, which the language may have decided. */
function EmptyTexts({ input }: { readonly input: Input }): ReactNode {
  const { locked, tell } = useAccess();
  const language = useEditorState(({ session }) => session.document.language);
  const why = whyNoSwitch(language, input);
  const on = emptyIsNone(language, input);
  return (
    <>
      <Switch
        name={WORDS.emptyOf(input.name)}
        label={WORDS.emptyTexts}
        on={why === undefined ? input.nulls.includes('') : on}
        disabled={locked ?? why}
        onSwitch={(isNone) => tell('set-empty', { id: input.id, isNone })}
      />
      {why !== undefined && <p className="muted">{why}</p>}
      {why === undefined && on && !input.nulls.includes('') && <p className="muted">{WORDS.emptyInQuotes}</p>}
    </>
  );
}

/** Which sheet of a workbook is read: what stands behind `#` in its location. */
function Sheet({ input: { id, location } }: { readonly input: Input }): ReactNode {
  const { readOnly, tell } = useAccess();
  const sheets = useStore(useSamples(), (states) => {
    const state = states.get(id);
    return state?.kind === 'read' ? state.sample.sheets : undefined;
  });
  const whole = location.kind === 'file' ? location.path : 'url' in location ? location.url : '';
  const { path, sheet } = splitSheet(whole);
  const choose = (text: string): string | undefined => {
    const name = text.trim();
    const end = name === '' ? '' : `#${location.kind === 'file' ? name : encodeURIComponent(name)}`;
    if (location.kind === 'file') return tell('relocate-input', { id, location: { ...location, path: `${path}${end}` } });
    return 'url' in location ? tell('relocate-input', { id, location: { ...location, url: `${path}${end}` } }) : undefined;
  };
  return (
    <Combo
      label={WORDS.sheet}
      hint={WORDS.sheetHint}
      placeholder={sheets?.[0] ?? WORDS.firstSheet}
      value={sheet ?? ''}
      options={(sheets ?? []).map((value) => ({ value }))}
      readOnly={readOnly}
      onCommit={choose}
    />
  );
}

/** Why an input was not read; nothing where it was. */
function Unread({ input }: { readonly input: Id }): ReactNode {
  const state = useStore(useSamples(), (states) => states.get(input));
  if (state?.kind !== 'failed') return null;
  return (
    <p className="trouble" role="alert">
      {saidOf(state.trouble)}
    </p>
  );
}

/** How a location is shown, and the one that a text means. */
function locationField(location: Location): { readonly label: string; readonly text: string; readonly moved: (text: string) => Location } {
  switch (location.kind) {
    case 'upload':
    case 'url':
      return { label: WORDS.location, text: location.url, moved: (url) => (url === location.url ? location : { kind: 'url', url }) };
    case 'file':
      return { label: WORDS.file, text: location.path, moved: (path) => ({ ...location, path }) };
    case 'table':
      return { label: WORDS.table, text: location.table, moved: (table) => ({ ...location, table }) };
    case 'query':
      return { label: WORDS.query, text: location.query, moved: (query) => ({ ...location, query }) };
  }
}

function Dialect({ input: { id, name, dialect = {} } }: { readonly input: Input }): ReactNode {
  const { readOnly, locked, tell } = useAccess();
  const set = (key: keyof CsvDialect, value: string | boolean | undefined): string | undefined => {
    const { [key]: _, ...rest } = dialect;
    const next: CsvDialect = value === undefined ? rest : { ...rest, [key]: value };
    return tell('set-dialect', { id, dialect: Object.keys(next).length === 0 ? undefined : next });
  };
  const written = (label: string, key: 'delimiter' | 'quote' | 'encoding', usual: string): ReactNode => (
    <Combo
      label={label}
      value={dialect[key] ?? ''}
      placeholder={usual}
      readOnly={readOnly}
      onCommit={(text) => set(key, text || undefined)}
    />
  );
  return (
    <>
      {written(WORDS.delimiter, 'delimiter', ',')}
      {written(WORDS.quote, 'quote', dialect.quote === '' || dialect.delimiter === '\t' ? '' : '"')}
      {written(WORDS.encoding, 'encoding', 'UTF-8')}
      <Switch
        name={WORDS.headerOf(name)}
        label={WORDS.header}
        on={dialect.header ?? true}
        disabled={locked}
        onSwitch={(header) => set('header', header ? undefined : false)}
      />
    </>
  );
}
