/** Pan, zoom and drag, by xyflow. No other file imports it. */
import {
  applyNodeChanges,
  BaseEdge,
  type Edge,
  type EdgeChange,
  type EdgeProps,
  getViewportForBounds,
  Handle,
  MarkerType,
  MiniMap,
  type Node,
  type NodeChange,
  type NodeProps,
  Panel,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
  useUpdateNodeInternals,
  type Viewport,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { type ComponentType, memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Position as Placed } from '../../core/commands/canvas/places.ts';
import type { Id } from '../../core/document.ts';
import type { Point } from '../parts/layout/layout.ts';
import { courseOf, curveOf } from './layout/courses.ts';
import { boxOf } from './layout/sizes.ts';
import type { Block, Line } from './scene.ts';

export const FlowProvider = ReactFlowProvider;
export const FlowPanel = Panel;

/** What blocks are drawn by. It renders again when its block is another object. */
export type BlockView = ComponentType<{ readonly block: Block; readonly isSelected: boolean }>;

export interface FlowProps {
  readonly blocks: readonly Block[];
  readonly points: ReadonlyMap<Id, Point>;
  readonly lines: readonly Line[];
  readonly selected: ReadonlySet<string>;
  readonly view: BlockView;
  readonly isReadOnly: boolean;
  readonly showsMap: boolean;
  readonly onMove: (positions: readonly Placed[]) => void;
  readonly onSelect: (chosen: readonly Id[], left: readonly Id[]) => void;
  /** A click on a block, and on none of its rows: it is selected already where one of its rows is. */
  readonly onClick: (block: Id) => void;
  /** A line begins at a block, or at a field of it. */
  readonly onDraw: (block: Id, port: string) => void;
  readonly onDrawn: (at: Point) => void;
  readonly children: ReactNode;
}

type BlockNode = Node<{ readonly block: Block }, 'block'>;

/** Ports of a block without a field. */
export const OUT = 'out';
const IN = 'in';

/** More blocks than these are drawn only where they are seen. */
const MANY = 100;
/** Below it a block is its title alone. */
const FAR = 0.4;

export function Flow(props: FlowProps): ReactNode {
  const { blocks, points, lines, selected, view: View, isReadOnly, showsMap, children } = props;
  const [nodes, setNodes] = useState<readonly BlockNode[]>([]);
  const [fitsFirst] = useState(() => blocks.some(({ kind }) => kind !== 'input'));
  // Dragging moves nodes alone; the model hears of it when it ends.
  useLayoutEffect(() => setNodes((before) => nodesOf(before, blocks, points, selected)), [blocks, points, selected]);
  const edges = useMemo(() => lines.map((line) => edgeOf(line, selected)), [lines, selected]);
  const types = useMemo(
    () => ({
      block: memo(({ data, selected: isSelected = false }: NodeProps<BlockNode>) => <View block={data.block} isSelected={isSelected} />),
    }),
    [View],
  );
  const chosenBy = (changes: readonly (NodeChange<BlockNode> | EdgeChange)[]): void => {
    const chosen = changes.filter((change) => change.type === 'select');
    if (chosen.length === 0) return;
    const ids = (isIn: boolean): readonly Id[] => chosen.filter((change) => change.selected === isIn).map(({ id }) => id);
    props.onSelect(ids(true), ids(false));
  };
  return (
    <ReactFlow<BlockNode>
      nodes={nodes as BlockNode[]}
      edges={edges}
      nodeTypes={types}
      edgeTypes={EDGES}
      onNodesChange={(changes) => {
        chosenBy(changes);
        setNodes((before) =>
          applyNodeChanges(
            changes.filter(({ type }) => type === 'position' || type === 'dimensions'),
            before as BlockNode[],
          ),
        );
      }}
      onEdgesChange={chosenBy}
      onNodeClick={({ target, shiftKey, ctrlKey, metaKey }, { id }) => {
        const isPart = (target as Element).closest('[data-row], [data-field], button, .react-flow__handle') !== null;
        if (!isPart && !shiftKey && !ctrlKey && !metaKey) props.onClick(id);
      }}
      onNodeDragStop={(_, __, moved) => props.onMove(moved.map(({ id, position }) => ({ of: id, ...rounded(position) })))}
      onConnectStart={(_, { nodeId, handleId }) => {
        hasDrawn = true;
        if (nodeId !== null) props.onDraw(nodeId, handleId ?? OUT);
      }}
      onConnectEnd={(event) => {
        const { clientX: x, clientY: y } = 'changedTouches' in event ? (event.changedTouches[0] as Touch) : event;
        props.onDrawn({ x, y });
      }}
      nodesDraggable={!isReadOnly}
      nodesConnectable={!isReadOnly}
      nodesFocusable={false}
      edgesFocusable={false}
      disableKeyboardA11y
      connectOnClick={false}
      connectionDragThreshold={4}
      deleteKeyCode={null}
      selectionKeyCode="Shift"
      multiSelectionKeyCode={['Shift', 'Control', 'Meta']}
      zoomOnDoubleClick={false}
      minZoom={ZOOM.min}
      maxZoom={ZOOM.max}
      defaultViewport={BEGIN}
      onlyRenderVisibleElements={blocks.length > MANY}
    >
      {showsMap && <MiniMap pannable zoomable ariaLabel={null} style={MAP} nodeClassName={(node) => (node as BlockNode).data.block.kind} />}
      <Distance />
      {fitsFirst && <FirstFit blocks={blocks} points={points} />}
      {children}
    </ReactFlow>
  );
}

const ZOOM = { min: 0.1, max: 2 };
const READABLE = 0.6;
const MAP = { width: 140, height: 100 };
/** The buttons of the canvas stand above. */
const FIT = { padding: { top: '64px', right: '24px', bottom: '24px', left: '24px' }, maxZoom: 1 } as const;

/** Inputs alone stand at the left: the graph comes beside them. */
const BEGIN = { x: 24, y: 64, zoom: 1 };

const rounded = ({ x, y }: Point): Point => ({ x: Math.round(x), y: Math.round(y) });

/** Nodes that did not change stay the same objects: they are not drawn again. */
function nodesOf(
  before: readonly BlockNode[],
  blocks: readonly Block[],
  points: ReadonlyMap<Id, Point>,
  selected: ReadonlySet<string>,
): readonly BlockNode[] {
  const known = new Map(before.map((node) => [node.id, node]));
  return blocks.flatMap((block) => {
    const position = points.get(block.id);
    if (position === undefined) return [];
    const old = known.get(block.id);
    const isSelected = selected.has(block.id);
    const isSame =
      old?.data.block === block && old.selected === isSelected && old.position.x === position.x && old.position.y === position.y;
    if (isSame) return [old];
    const data = old?.data.block === block ? old.data : { block };
    const { width, height } = boxOf(block);
    return [
      {
        ...old,
        id: block.id,
        type: 'block' as const,
        position,
        data,
        selected: isSelected,
        // Above all lines: where one ends at a port, the next one begins.
        zIndex: 1,
        initialWidth: width,
        initialHeight: height,
      },
    ];
  });
}

const edgeOf = ({ id, kind, from, field, to, label, isComplete, warning }: Line, selected: ReadonlySet<string>): Edge => ({
  id,
  source: from,
  sourceHandle: field ?? OUT,
  target: to,
  targetHandle: IN,
  label: warning === undefined ? label : `⚠ ${label}`,
  ...(warning !== undefined && { data: { warning } }),
  className: [kind, isComplete ? '' : 'incomplete', warning === undefined ? '' : 'warned'].filter((one) => one !== '').join(' '),
  selectable: kind === 'edge',
  selected: selected.has(id),
  zIndex: 0,
  ...(kind === 'edge' && { markerEnd: ARROW }),
});

const ARROW = { type: MarkerType.ArrowClosed, width: 18, height: 18, color: 'context-stroke' };

/** A line whose ends are at the sides of its blocks that face each other. */
const CurvedEdge = memo(({ sourceX, sourceY, targetX, targetY, markerEnd, label, data }: EdgeProps): ReactNode => {
  const { path, label: at } = curveOf(courseOf({ x: sourceX - PORT_RADIUS, y: sourceY }, { x: targetX, y: targetY }));
  return (
    <>
      {typeof data?.warning === 'string' && <title>{data.warning}</title>}
      <BaseEdge path={path} labelX={at.x} labelY={at.y} label={label} {...(markerEnd !== undefined && { markerEnd })} />
    </>
  );
});

const EDGES = { default: CurvedEdge };

/** Ports are as large as a finger needs; lines begin at their middle. */
const PORT_RADIUS = 12;

/** Shows all blocks when the canvas is opened, if they can be read then. Their sizes are known before they are drawn. */
function FirstFit({ blocks, points }: Pick<FlowProps, 'blocks' | 'points'>): ReactNode {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  // As soon as all of them have a place; what is drawn later does not move the view.
  const first = useRef<typeof points | undefined>(undefined);
  if (blocks.every(({ id }) => points.has(id))) first.current ??= new Map(blocks.map(({ id }) => [id, points.get(id) as Point]));
  const all = first.current;
  const done = useRef<(Viewport & { readonly width: number }) | undefined>(undefined);
  useLayoutEffect(() => {
    const boxes = blocks.flatMap((block) => {
      const point = all?.get(block.id);
      return point === undefined ? [] : [{ ...boxOf(block), ...point }];
    });
    if (width === 0 || height === 0 || boxes.length === 0) return;
    // The regions beside it may come later than the canvas. A view that a person has moved stays.
    const [set, now] = [done.current, flow.getViewport()];
    if (set !== undefined && (set.width === width || now.x !== set.x || now.y !== set.y || now.zoom !== set.zoom)) return;
    const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
    const right = Math.max(...boxes.map((box) => box.x + box.width));
    const bottom = Math.max(...boxes.map((box) => box.y + box.height));
    const bounds = { x, y, width: right - x, height: bottom - y };
    const whole = getViewportForBounds(bounds, width, height, ZOOM.min, FIT.maxZoom, FIT.padding);
    // A large model begins at its upper left: from afar nothing of it could be read.
    const beginning = { x: BEGIN.x - x * READABLE, y: BEGIN.y - y * READABLE, zoom: READABLE };
    const view = whole.zoom < READABLE ? beginning : whole;
    done.current = { ...view, width };
    void flow.setViewport(view);
  }, [flow, width, height, blocks, all]);
  return null;
}

/** Says on the canvas whether it is looked at from afar: its style sheet hides what could not be read. */
function Distance(): ReactNode {
  const isFar = useStore(({ transform }) => transform[2] < FAR);
  const root = useStore(({ domNode }) => domNode);
  useEffect(() => {
    root?.toggleAttribute('data-far', isFar);
  }, [root, isFar]);
  return null;
}

interface PortProps {
  /** The field that a line begins at; absent: the block. */
  readonly field?: string;
  readonly title: string;
  readonly onClick: () => void;
}

/** Whether a line was drawn since the pointer went down: a line that ends at its port is no click there. */
let hasDrawn = false;

/** Where a line begins: by dragging, or by a click that opens the list of targets. */
export const Port = ({ field, title, onClick }: PortProps): ReactNode => (
  <Handle
    type="source"
    position={Position.Right}
    id={field ?? OUT}
    title={title}
    isConnectableEnd={false}
    onPointerDown={() => {
      hasDrawn = false;
    }}
    onClick={(event) => {
      event.stopPropagation();
      if (!hasDrawn) onClick();
    }}
  />
);

/** Where lines of a block without a port begin. */
export const HiddenPort = (): ReactNode => (
  <Handle type="source" position={Position.Right} id={OUT} className="none" isConnectable={false} />
);

/** Where lines end. */
export const Target = (): ReactNode => <Handle type="target" position={Position.Left} id={IN} className="none" isConnectable={false} />;

/** Tells xyflow that ports of a block have moved. @param key another one, when they have */
export function usePortsMoved(id: Id, key: string): void {
  const update = useUpdateNodeInternals();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for where the ports are
  useLayoutEffect(() => update(id), [update, id, key]);
}

export interface FlowControls {
  fit(ids?: readonly Id[]): void;
  zoomBy(factor: number): void;
  zoomTo(scale: number): void;
  /** A point of the window → that of the canvas. */
  pointAt(point: Point): Point;
}

/** To be used below a `FlowProvider`. */
export function useFlow(): FlowControls {
  const flow = useReactFlow();
  return useMemo(
    () => ({
      fit: (ids) => void flow.fitView({ ...FIT, ...(ids !== undefined && ids.length > 0 && { nodes: ids.map((id) => ({ id })) }) }),
      zoomBy: (factor) => void flow.zoomTo(flow.getZoom() * factor),
      zoomTo: (scale) => void flow.zoomTo(scale),
      pointAt: (point) => rounded(flow.screenToFlowPosition(point)),
    }),
    [flow],
  );
}
