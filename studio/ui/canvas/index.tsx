/** The canvas: inputs, entities and edges as blocks and lines. The outline can do everything that it can. */
import { type ClipboardEvent, type DragEvent, type ReactNode, useId, useMemo, useRef, useState } from 'react';
import { copied } from '../../core/commands/canvas/copies.ts';
import type { Element, FieldRef, Id } from '../../core/document.ts';
import { recordOf, sameModel } from '../../core/elements/records.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { Menu } from '../parts/menu.tsx';
import { announce } from '../store/announcements.ts';
import { useDocument, useEditor, useEditorState, useSamples } from '../store/context.tsx';
import { droppedFields, FIELD_TYPE } from '../store/page/drag.ts';
import { samplesRead } from '../store/samples.ts';
import { useStore } from '../store/store.ts';
import { BlockView, underPoint } from './blocks.tsx';
import './canvas.css';
import { arrange } from '../parts/layout/arranging.ts';
import type { Point } from '../parts/layout/layout.ts';
import { endOf, useDrawing, VerdictNote } from './drawing.tsx';
import { attributesOf, elementsOf } from './drop.ts';
import { Flow, FlowPanel, FlowProvider, useFlow } from './flow.tsx';
import { pressed } from './keys.ts';
import { arrangementOf, usePositions } from './layout/positions.ts';
import { PredicatePrompt } from './predicate.tsx';
import { type Block, type InputViews, linksOf, type Scene, sceneOf } from './scene.ts';
import { Suggestions } from './suggested.tsx';
import { type Views, ViewsContext } from './views.ts';
import { WORDS } from './words.ts';

export default function CanvasRegion(): ReactNode {
  return (
    <FlowProvider>
      <Canvas />
    </FlowProvider>
  );
}

const ELEMENTS_TYPE = 'application/x-quadmill-elements';

interface Dropped {
  readonly fields: readonly FieldRef[];
  readonly at: Point;
}

function Canvas(): ReactNode {
  const editor = useEditor();
  const flow = useFlow();
  const id = useId();
  const ref = useRef<HTMLDivElement>(null);
  const document = useDocument();
  const selection = useEditorState((state) => state.selection.elements);
  const isReadOnly = useEditorState((state) => state.role === 'viewer');
  const { scene, views } = useScene();
  const points = usePositions(document, scene);
  const [showsMap, setShowsMap] = useState(() => scene.blocks.length > FEW && scene.blocks.length <= MANY);
  const [dropped, setDropped] = useState<Dropped | undefined>(undefined);
  const [asked, setAsked] = useState<Id | undefined>(undefined);
  const selected = useMemo(() => new Set(selection.map((one) => ownerOfRow(scene, one))), [selection, scene]);
  const lines = useMemo(() => [...scene.lines, ...linksOf(document, scene, selection)], [document, scene, selection]);
  const drawing = useDrawing(scene, {
    drawn: setAsked,
    dropped: (field, at) => setDropped({ fields: [field], at }),
    pointAt: flow.pointAt,
  });

  const select = (chosen: readonly Id[], left: readonly Id[]): void => {
    const now = editor.get().selection.elements;
    const gone = new Set(left);
    const kept = now.filter((one) => !gone.has(ownerOfRow(scene, one)) && !chosen.includes(one));
    editor.select({ elements: [...kept, ...chosen], fields: [] });
  };
  const layOut = (): void => {
    arrange(arrangementOf(scene)).then(
      (all) => {
        editor.dispatch('lay-out', { positions: [...all].map(([of, point]) => ({ of, ...point })) });
        flow.fit();
      },
      (error: unknown) => announce(WORDS.notLaidOut(error instanceof Error ? error.message : String(error)), 'assertive'),
    );
  };
  const drop = (event: DragEvent): void => {
    const fields = droppedFields(event.dataTransfer);
    if (fields.length === 0) return;
    event.preventDefault();
    const [x, y] = [event.clientX, event.clientY];
    const under = underPoint(x, y);
    const to = under === undefined || under === 'canvas' ? undefined : endOf(scene, under);
    if (to === undefined || to.kind === 'canvas') setDropped({ fields, at: { x, y } });
    else editor.perform(attributesOf(editor.get(), fields, to), undefined);
  };
  const copy = (event: ClipboardEvent): void => {
    const ids = editor.get().selection.elements;
    if (ids.length === 0) return;
    event.preventDefault();
    event.clipboardData.setData(ELEMENTS_TYPE, JSON.stringify(copied(document, ids)));
    announce(WORDS.copied(ids.length));
  };
  const paste = (event: ClipboardEvent): void => {
    const text = event.clipboardData.getData(ELEMENTS_TYPE);
    if (text === '') return;
    event.preventDefault();
    editor.dispatch('paste', { records: JSON.parse(text) as readonly Element[] });
  };
  const makeOf = (as: 'entity' | 'attribute'): void => {
    if (dropped === undefined) return;
    editor.perform(elementsOf(editor.get(), dropped.fields, as, flow.pointAt(dropped.at)), undefined);
  };

  return (
    <ViewsContext value={views}>
      <div
        ref={ref}
        className="canvas"
        role="application"
        data-read-only={isReadOnly || undefined}
        aria-label={WORDS.label}
        aria-describedby={id}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the canvas is one stop of Tab, and has its own keys
        tabIndex={0}
        onKeyDown={(event) =>
          pressed(event, { editor, flow, scene, points: points ?? new Map(), layOut, toggleMap: () => setShowsMap(!showsMap), views })
        }
        onDragOver={(event) => event.dataTransfer.types.includes(FIELD_TYPE) && event.preventDefault()}
        onDrop={drop}
        onCopy={copy}
        onCut={(event) => {
          copy(event);
          editor.dispatch('remove', { ids: editor.get().selection.elements });
        }}
        onPaste={paste}
      >
        <p id={id} className="hidden">
          {WORDS.keys}
        </p>
        {scene.blocks.length === 0 ? (
          <Empty title={WORDS.empty}>{WORDS.emptyHint}</Empty>
        ) : points === undefined ? (
          <p role="status">{WORDS.laying}</p>
        ) : (
          <Flow
            blocks={scene.blocks}
            points={points}
            lines={lines}
            selected={selected}
            view={BlockView}
            isReadOnly={isReadOnly}
            showsMap={showsMap}
            onMove={(positions) => void editor.dispatch('move', { positions })}
            onSelect={select}
            onClick={(block) => editor.select({ elements: [block], fields: [] })}
            onDraw={drawing.begin}
            onDrawn={drawing.end}
          >
            <FlowPanel position="top-right" className="controls">
              <Suggestions />
              <Button kind="quiet" tabIndex={-1} title="1" onClick={() => flow.fit()}>
                {WORDS.fit}
              </Button>
              <Button kind="quiet" tabIndex={-1} title="L" onClick={layOut}>
                {WORDS.layOut}
              </Button>
              <Button kind="quiet" tabIndex={-1} title="M" aria-pressed={showsMap} onClick={() => setShowsMap(!showsMap)}>
                {WORDS.map}
              </Button>
              <Button kind="quiet" tabIndex={-1} icon="add" label={WORDS.zoomIn} onClick={() => flow.zoomBy(ZOOM)} />
              <Button kind="quiet" tabIndex={-1} icon="less" label={WORDS.zoomOut} onClick={() => flow.zoomBy(1 / ZOOM)} />
            </FlowPanel>
          </Flow>
        )}
        <VerdictNote drawing={drawing} />
      </div>
      {dropped !== undefined && (
        <Menu
          label={WORDS.dropAs}
          at={dropped.at}
          items={[
            { label: WORDS.makeEntity, keys: 'E', onChoose: () => makeOf('entity') },
            {
              label: dropped.fields.length === 1 ? WORDS.makeAttribute : WORDS.makeAttributes,
              keys: 'A',
              onChoose: () => makeOf('attribute'),
            },
          ]}
          onClose={() => setDropped(undefined)}
        />
      )}
      {asked !== undefined && recordOf(document, 'edge', asked) !== undefined && (
        <PredicatePrompt edge={asked} onClose={() => setAsked(undefined)} />
      )}
    </ViewsContext>
  );
}

const ZOOM = 1.25;

/** So many blocks are seen at once: the minimap would cover some of them. */
const FEW = 12;
/** With more blocks than these the minimap, which is drawn again in each frame, is shown on demand. */
const MANY = 100;

/** An attribute that is a row is selected by its edge, as in the outline; its block shows that. */
function ownerOfRow({ blocks }: Scene, id: Id): Id {
  for (const block of blocks) {
    if (block.kind === 'entity' && block.rows.some(({ edge, attribute }) => attribute !== undefined && (edge === id || attribute === id)))
      return block.id;
  }
  return id;
}

/** The scene, and how its inputs are shown. Blocks that look the same stay the same objects. */
function useScene(): { readonly scene: Scene; readonly views: Views } {
  const document = useEditorState(({ session }) => session.document, sameModel);
  const schema = useEditorState((state) => state.schema);
  const samples = useStore(useSamples(), (all) => all);
  const editor = useEditor();
  const all = useEditorState(({ shown }) => shown.all);
  const open = useEditorState(({ shown }) => shown.open);
  const known = useRef<ReadonlyMap<Id, { readonly text: string; readonly block: Block }>>(new Map());
  const inputs = useMemo((): InputViews => {
    return { all, open, lists: samplesRead(samples) };
  }, [all, open, samples]);
  const scene = useMemo((): Scene => {
    const made = sceneOf(document, schema, inputs);
    const texts = made.blocks.map((block) => {
      const text = JSON.stringify(block);
      const before = known.current.get(block.id);
      return [block.id, before?.text === text ? before : { text, block }] as const;
    });
    known.current = new Map(texts);
    return { ...made, blocks: texts.map(([, { block }]) => block) };
  }, [document, schema, inputs]);
  const views = useMemo(
    (): Views => ({
      showAll: (input, isAll) => editor.setShown({ all: changed(editor.get().shown.all, input, isAll) }),
      open: (key, isOpen) => editor.setShown({ open: changed(editor.get().shown.open, key, isOpen) }),
    }),
    [editor],
  );
  return { scene, views };
}

function changed(before: ReadonlySet<string>, one: string, isIn: boolean): ReadonlySet<string> {
  const next = new Set(before);
  if (isIn) next.add(one);
  else next.delete(one);
  return next;
}
