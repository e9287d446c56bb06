/** The blocks of the canvas, as they are drawn. */
import { type ReactNode, useState } from 'react';
import type { Id } from '../../core/document.ts';
import { Button } from '../parts/button.tsx';
import { FieldLine } from '../parts/fields/line.tsx';
import type { FieldRow } from '../parts/fields/rows.ts';
import { Icon } from '../parts/icon.tsx';
import { useEditor } from '../store/context.tsx';
import { endOfIri } from '../store/iris.ts';
import { HiddenPort, Port, Target, usePortsMoved } from './flow.tsx';
import { FIELD_ROW, MOST_ROWS } from './layout/sizes.ts';
import type { AttributeBlock, Block, EntityBlock, EntityRow, InputBlock, TextBlock } from './scene.ts';
import { useSuggestedPredicate } from './suggested.tsx';
import { useViews } from './views.ts';
import { WORDS } from './words.ts';

export interface BlockProps {
  readonly block: Block;
  readonly isSelected: boolean;
}

export function BlockView({ block, isSelected }: BlockProps): ReactNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a block is no part of a form
    <div
      role="group"
      className={`block ${block.kind}`}
      aria-label={nameOfBlock(block)}
      aria-current={isSelected}
      tabIndex={-1}
      data-block={block.id}
    >
      {contentOf(block)}
    </div>
  );
}

function contentOf(block: Block): ReactNode {
  switch (block.kind) {
    case 'input':
      return <InputContent block={block} />;
    case 'entity':
      return <EntityContent block={block} />;
    case 'attribute':
      return <AttributeContent block={block} />;
    case 'text':
      return <TextContent block={block} />;
  }
}

function nameOfBlock(block: Block): string {
  switch (block.kind) {
    case 'input':
      return WORDS.input(block.name, block.used.length);
    case 'entity':
      return WORDS.entity(block.name, block.input, block.rows.filter(({ attribute }) => attribute !== undefined).length, block.edges);
    case 'attribute':
      return WORDS.attribute(block.name);
    case 'text':
      return WORDS.asText(block.reason);
  }
}

function InputContent({ block: { id, name, isTable, rows, used, showsAll } }: { readonly block: InputBlock }): ReactNode {
  const views = useViews();
  const [top, setTop] = useState(0);
  const first = Math.min(Math.floor(top / FIELD_ROW), Math.max(0, rows.length - MOST_ROWS));
  const shown = rows.slice(first, first + MOST_ROWS + 1);
  usePortsMoved(id, `${first} ${shown.map(({ key }) => key).join(' ')}`);
  const isUsed = new Set(used);
  return (
    <>
      <header className="title">
        <Icon name={isTable ? 'table' : 'file'} />
        <strong className="grow name">{name}</strong>
        <HiddenPort />
      </header>
      <div
        className="fields nowheel nodrag"
        style={{ height: Math.min(rows.length, MOST_ROWS) * FIELD_ROW }}
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      >
        <ul style={{ height: rows.length * FIELD_ROW }}>
          {shown.map((row, i) => (
            <FieldItem key={row.key} row={row} top={(first + i) * FIELD_ROW} isUsed={isUsed.has(row.key)} />
          ))}
        </ul>
      </div>
      {used.length > 0 && (
        <Button kind="quiet" className="nodrag" tabIndex={-1} onClick={() => views.showAll(id, !showsAll)}>
          {showsAll ? WORDS.showUsed : WORDS.showAll}
        </Button>
      )}
    </>
  );
}

interface FieldItemProps {
  readonly row: FieldRow;
  readonly top: number;
  readonly isUsed: boolean;
}

function FieldItem({ row, top, isUsed }: FieldItemProps): ReactNode {
  const editor = useEditor();
  const views = useViews();
  const { key, text, field, isOpen, level, ref } = row;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the canvas
    <li
      data-field={key}
      className={isUsed ? 'used' : undefined}
      tabIndex={-1}
      style={{ top, paddingLeft: (level - 2) * 12 }}
      onClick={(event) => {
        event.stopPropagation();
        editor.select({ elements: [], fields: [ref] });
      }}
    >
      {isOpen === undefined ? (
        <span className="twist" />
      ) : (
        <button
          type="button"
          className="twist"
          tabIndex={-1}
          aria-label={isOpen ? WORDS.shut(text) : WORDS.open(text)}
          aria-expanded={isOpen}
          onClick={(event) => {
            event.stopPropagation();
            views.open(key, !isOpen);
          }}
        >
          <Icon name="open" />
        </button>
      )}
      <span className="hidden">{row.name}</span>
      <FieldLine field={field} text={text} />
      <Port field={key} title={WORDS.connect} onClick={() => editor.connectFrom({ kind: 'field', ref })} />
    </li>
  );
}

function EntityContent({ block }: { readonly block: EntityBlock }): ReactNode {
  const { id, name, identifier, example, classes, rows, kept } = block;
  return (
    <>
      <Target />
      <header className="title">
        <Icon name="entity" />
        <strong className="grow name">{name}</strong>
        <ElementPort id={id} />
      </header>
      <p className="line mono" title={identifier}>
        {identifier}
      </p>
      {example !== undefined && (
        <p className="line mono muted" title={example}>
          {WORDS.example(endOfIri(example, 2))}
        </p>
      )}
      {classes !== '' && <p className="line">{WORDS.class(classes)}</p>}
      {rows.length > 0 && (
        <ul className="rows">
          {rows.map((row) => (
            <RowItem key={row.edge} row={row} />
          ))}
        </ul>
      )}
      {kept > 0 && <p className="line muted">{WORDS.kept(kept)}</p>}
    </>
  );
}

function RowItem({ row: { edge, attribute, predicate, value, type, warning } }: { readonly row: EntityRow }): ReactNode {
  const editor = useEditor();
  const isAttribute = attribute !== undefined;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the canvas
    <li
      data-row={edge}
      data-element={attribute}
      className={isAttribute ? 'line' : 'line edge-row'}
      tabIndex={-1}
      title={warning}
      onClick={(event) => {
        event.stopPropagation();
        editor.select({ elements: [edge], fields: [] });
      }}
    >
      {warning !== undefined && (
        <span className="warning">
          <span aria-hidden="true">⚠</span>
          <span className="hidden">{warning}</span>
        </span>
      )}
      <Predicate edge={edge} predicate={predicate} />
      <span className="value grow">{isAttribute ? value : WORDS.edge('', value)}</span>
      {type !== '' && <span className="small muted">{type}</span>}
    </li>
  );
}

function Predicate({ edge, predicate }: Pick<EntityRow, 'edge' | 'predicate'>): ReactNode {
  const suggested = useSuggestedPredicate(edge);
  if (predicate !== '') return <span className="name">{predicate}</span>;
  if (suggested === undefined) return <span className="name warning">{WORDS.noPredicate}</span>;
  return (
    <span className="name suggested" title={WORDS.suggested(suggested)}>
      {suggested}?<span className="hidden">{WORDS.noPredicate}</span>
    </span>
  );
}

function AttributeContent({ block: { id, name, type } }: { readonly block: AttributeBlock }): ReactNode {
  return (
    <>
      <Target />
      <header className="title">
        <Icon name="attribute" />
        <span className="grow name">{name}</span>
        <ElementPort id={id} />
      </header>
      {type !== '' && <p className="line small muted">{type}</p>}
    </>
  );
}

const TextContent = ({ block: { reason } }: { readonly block: TextBlock }): ReactNode => (
  <>
    <header className="title">
      <Icon name="file" />
      <span className="grow name">{WORDS.text}</span>
    </header>
    <p className="reason">{reason}</p>
  </>
);

function ElementPort({ id }: { readonly id: Id }): ReactNode {
  const editor = useEditor();
  return <Port title={WORDS.connect} onClick={() => editor.connectFrom({ kind: 'element', id })} />;
}

/** What stands at a place of the page. */
export interface Under {
  readonly block: Id;
  /** The key of a field. */
  readonly field?: string;
  /** An attribute that is a row. */
  readonly element?: Id;
}

export function underPoint(x: number, y: number): Under | 'canvas' | undefined {
  const found = document.elementFromPoint(x, y);
  if (found === null || found.closest('.react-flow') === null || found.closest('.react-flow__panel') !== null) return undefined;
  const block = found.closest<HTMLElement>('[data-block]')?.dataset.block;
  if (block === undefined) return 'canvas';
  const field = found.closest<HTMLElement>('[data-field]')?.dataset.field;
  const element = found.closest<HTMLElement>('[data-element]')?.dataset.element;
  return { block, ...(field !== undefined && { field }), ...(element !== undefined && { element }) };
}
