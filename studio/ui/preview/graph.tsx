/** The statements of the first records, drawn. */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { StudioPreviewStatement } from '../../../client/types.ts';
import { Button } from '../parts/button.tsx';
import { arrange } from '../parts/layout/arranging.ts';
import type { Point } from '../parts/layout/layout.ts';
import { DIRECTIONS, nearest } from '../parts/layout/nearest.ts';
import type { Prefixes } from '../parts/statements/terms.ts';
import { arrangementOf, type GraphNode, graphOf, heightOf, NODE_WIDTH, type PreviewGraph } from './graph.ts';
import { WORDS } from './words.ts';

interface GraphProps {
  readonly statements: readonly StudioPreviewStatement[];
  readonly compact: Prefixes['compact'];
  readonly chosen: StudioPreviewStatement | undefined;
  readonly onChoose: (statement: StudioPreviewStatement) => void;
}

type Points = ReadonlyMap<string, Point>;

const MARGIN = 16;
const ZOOM = 1.25;
const LEAST_ZOOM = 0.2;
const MOST_ZOOM = 2;

/** Nodes say what they are: relative IRIs need no brackets there. */
const withoutBrackets = (term: string): string => term.replace(/^<([^:<>]*)>$/, '$1');

export function GraphView({ statements, compact, chosen, onChoose }: GraphProps): ReactNode {
  const graph = useMemo(() => graphOf(statements, (term) => withoutBrackets(compact(term))), [statements, compact]);
  const laidOut = useLayout(graph);
  const [zoom, setZoom] = useState(1);
  const [node, setNode] = useState<string | undefined>(undefined);
  const frame = useRef<HTMLDivElement>(null);
  const pan = usePan();
  if (laidOut === undefined) return <p className="preview-none">{WORDS.layingOut}</p>;
  if (typeof laidOut === 'string') {
    return (
      <p className="preview-none" role="alert">
        {laidOut}
      </p>
    );
  }
  const { points } = laidOut;
  const { nodes, links, more } = laidOut.graph;
  const size = sizeOf(nodes, points);
  const zoomTo = (wanted: number): void => setZoom(Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, wanted)));
  const fit = (): void => {
    const { clientWidth = 1, clientHeight = 1 } = frame.current ?? {};
    zoomTo(Math.min(1, clientWidth / size.width, clientHeight / size.height));
  };
  const open = nodes.find(({ id }) => id === node);
  return (
    <div className="preview-graph">
      <div className="preview-graph-bar">
        <Button kind="quiet" onClick={fit}>
          {WORDS.fit}
        </Button>
        <Button kind="quiet" icon="add" label={WORDS.zoomIn} onClick={() => zoomTo(zoom * ZOOM)} />
        <Button kind="quiet" icon="less" label={WORDS.zoomOut} onClick={() => zoomTo(zoom / ZOOM)} />
        <span>{WORDS.drawn(nodes.length, more)}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a group of buttons in a plane is no fieldset */}
      <div
        ref={frame}
        className="preview-graph-frame"
        role="group"
        aria-label={WORDS.graphKeys}
        onKeyDown={(event) => moveFocus(event, points)}
        {...pan}
      >
        <div className="preview-graph-plane" style={{ width: size.width * zoom, height: size.height * zoom }}>
          <div className="preview-graph-zoomed" style={{ width: size.width, height: size.height, transform: `scale(${zoom})` }}>
            <Links graph={laidOut.graph} points={points} chosen={chosen} onChoose={onChoose} />
            {nodes.map((one, i) => (
              <Node
                key={one.id}
                node={one}
                point={points.get(one.id) as Point}
                isOpen={one.id === open?.id}
                isTabStop={open === undefined ? i === 0 : one.id === open.id}
                onOpen={() => setNode(one.id === open?.id ? undefined : one.id)}
              />
            ))}
          </div>
        </div>
      </div>
      {open !== undefined && (
        <ul className="preview-statements preview-graph-own" aria-label={WORDS.statementsOf(open.label)}>
          {open.statements.slice(0, MOST_OWN).map((statement) => (
            <li key={statement.text}>
              <button type="button" aria-pressed={statement.text === chosen?.text} onClick={() => onChoose(statement)}>
                {statement.text.replace(/ \.$/, '')}
              </button>
            </li>
          ))}
          {open.statements.length > MOST_OWN && <li>{WORDS.moreStatements(open.statements.length - MOST_OWN)}</li>}
        </ul>
      )}
      {links.length === 0 && nodes.length === 0 && <p className="preview-none">{WORDS.none}</p>}
    </div>
  );
}

const MOST_OWN = 50;

/** The graph that was laid out last, or why none was; undefined: the first one is being laid out. */
function useLayout(graph: PreviewGraph): { readonly graph: PreviewGraph; readonly points: Points } | string | undefined {
  const [laidOut, setLaidOut] = useState<{ readonly graph: PreviewGraph; readonly points: Points } | string | undefined>(undefined);
  useEffect(() => {
    let isLeft = false;
    arrange(arrangementOf(graph)).then(
      (points) => !isLeft && setLaidOut({ graph, points }),
      (error: Error) => !isLeft && setLaidOut(error.message),
    );
    return () => {
      isLeft = true;
    };
  }, [graph]);
  return laidOut;
}

function sizeOf(nodes: readonly GraphNode[], points: Points): { readonly width: number; readonly height: number } {
  let width = 0;
  let height = 0;
  for (const node of nodes) {
    const { x, y } = points.get(node.id) as Point;
    width = Math.max(width, x + NODE_WIDTH);
    height = Math.max(height, y + heightOf(node));
  }
  return { width: width + 2 * MARGIN, height: height + 2 * MARGIN };
}

interface NodeProps {
  readonly node: GraphNode;
  readonly point: Point;
  readonly isOpen: boolean;
  /** One node is reached by Tab, the others by arrows. */
  readonly isTabStop: boolean;
  readonly onOpen: () => void;
}

const Node = ({ node, point: { x, y }, isOpen, isTabStop, onOpen }: NodeProps): ReactNode => (
  <button
    type="button"
    className="preview-node"
    data-node={node.id}
    style={{ left: x + MARGIN, top: y + MARGIN, width: NODE_WIDTH, height: heightOf(node) }}
    title={node.id}
    aria-expanded={isOpen}
    tabIndex={isTabStop ? 0 : -1}
    onClick={onOpen}
  >
    <strong>{node.label}</strong>
    {node.classes.length > 0 && <em>{node.classes.join(', ')}</em>}
    {node.values.map((value) => (
      <span key={value}>{value}</span>
    ))}
    {node.moreValues > 0 && <span>{WORDS.moreValues(node.moreValues)}</span>}
  </button>
);

function Links({
  graph: { nodes, links },
  points,
  chosen,
  onChoose,
}: Omit<GraphProps, 'statements' | 'compact'> & { readonly graph: PreviewGraph; readonly points: Points }): ReactNode {
  const heights = new Map(nodes.map((node) => [node.id, heightOf(node)]));
  return (
    <svg aria-hidden="true">
      <defs>
        <marker id="preview-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
          <path d="M0 0L8 4L0 8z" />
        </marker>
      </defs>
      {links.map(({ from, to, label, statement }) => {
        const start = points.get(from) as Point;
        const end = points.get(to) as Point;
        const x1 = start.x + NODE_WIDTH + MARGIN;
        const y1 = start.y + (heights.get(from) as number) / 2 + MARGIN;
        const x2 = end.x + MARGIN;
        const y2 = end.y + (heights.get(to) as number) / 2 + MARGIN;
        const bend = Math.max(40, Math.abs(x2 - x1) / 2);
        return (
          // Nodes reach their statements by keyboard.
          // biome-ignore lint/a11y/noStaticElementInteractions: see above
          <g key={statement.text} className={statement.text === chosen?.text ? 'chosen' : undefined} onClick={() => onChoose(statement)}>
            <path d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} markerEnd="url(#preview-arrow)" />
            <text x={(x1 + x2) / 2} y={(y1 + y2) / 2 - 4} textAnchor="middle">
              {label}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

/** Arrows go to the nearest node. */
function moveFocus(event: KeyboardEvent<HTMLElement>, points: Points): void {
  const direction = DIRECTIONS[event.key];
  const from = (event.target as HTMLElement).dataset.node;
  if (direction === undefined || from === undefined) return;
  event.preventDefault();
  const next = nearest(from, direction, points);
  if (next === undefined) return;
  for (const one of event.currentTarget.querySelectorAll<HTMLElement>('[data-node]')) if (one.dataset.node === next) one.focus();
}

/** Dragging the ground scrolls. */
function usePan() {
  const last = useRef<{ readonly x: number; readonly y: number } | undefined>(undefined);
  const end = (): void => {
    last.current = undefined;
  };
  return {
    onPointerDown: ({ target, currentTarget, button, clientX: x, clientY: y, pointerId }: PointerEvent<HTMLElement>): void => {
      if (button !== 0 || (target as HTMLElement).closest('button, g') !== null) return;
      last.current = { x, y };
      currentTarget.setPointerCapture(pointerId);
    },
    onPointerMove: ({ currentTarget, clientX: x, clientY: y }: PointerEvent<HTMLElement>): void => {
      if (last.current === undefined) return;
      currentTarget.scrollBy(last.current.x - x, last.current.y - y);
      last.current = { x, y };
    },
    onPointerUp: end,
    onPointerCancel: end,
  };
}
