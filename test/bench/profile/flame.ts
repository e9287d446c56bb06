/** A processor profile of V8 as a flame graph, and as shares of rooms. */

/** What `--cpu-prof` writes, in part. @see https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
export interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  /** Ids of nodes, in the order in which they were seen. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

/** A function within its callers, with what it calls; all calls of one way are one frame. */
export interface Frame {
  readonly name: string;
  readonly room: string;
  /** Microseconds, with those of its children. */
  total: number;
  /** Without them. */
  self: number;
  readonly children: Map<string, Frame>;
}

/** V8's names for what is no function of ours. */
const NO_WORK: ReadonlySet<string> = new Set(['(idle)', '(root)']);
const UNNAMED = '(unnamed)';

/** Time in which the program waited is left out. */
export function framesOf({ nodes, samples, timeDeltas }: Profile): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child): [number, number] => [child, id])));
  const root: Frame = { name: 'all', room: '', total: 0, self: 0, children: new Map() };
  samples.forEach((sample, i) => {
    const micros = timeDeltas[i] ?? 0;
    const way: { name: string; room: string }[] = [];
    for (let id: number | undefined = sample; id !== undefined; id = callers.get(id)) {
      const { functionName, url } = (byId.get(id) as Profile['nodes'][number]).callFrame;
      if (functionName === '(idle)') return;
      if (!NO_WORK.has(functionName)) way.push({ name: functionName || UNNAMED, room: roomOf(functionName, url) });
    }
    root.total += micros;
    let frame = root;
    for (const { name, room } of way.reverse()) {
      const key = `${room} ${name}`;
      let child = frame.children.get(key);
      if (child === undefined) frame.children.set(key, (child = { name, room, total: 0, self: 0, children: new Map() }));
      child.total += micros;
      frame = child;
    }
    frame.self += micros;
  });
  return root;
}

/** The folder of a compiled module within `dist`; `node` for Node itself; what V8 and Node do without a script has its name. */
function roomOf(functionName: string, url: string): string {
  if (url === '') return /^\(.*\)$/.test(functionName) ? functionName.slice(1, -1) : `node: ${functionName || UNNAMED}`;
  if (/^node:internal\/(?:modules|bootstrap|process|vm)\b/.test(url)) return 'node: loading of modules';
  const compiled = /\/dist\/((?:src\/)?[\w-]+(?:\/[\w-]+)*)\/[^/]+\.js$/.exec(url)?.[1];
  if (compiled !== undefined) return compiled;
  return /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? 'node';
}

/** Rooms with their shares of all time, the largest first: what their own functions took, without those that they call. */
export function sharesOf(root: Frame): readonly (readonly [room: string, share: number])[] {
  const micros = new Map<string, number>();
  const add = (frame: Frame): void => {
    micros.set(frame.room, (micros.get(frame.room) ?? 0) + frame.self);
    for (const child of frame.children.values()) add(child);
  };
  add(root);
  return [...micros]
    .map(([room, self]): [string, number] => [room, self / root.total])
    .filter(([, share]) => share > 0)
    .sort((a, b) => b[1] - a[1]);
}

const WIDTH = 1200;
const ROW = 17;
const MARGIN = 8;
const CHARACTER = 6.6;
/** Narrower frames are left out, with what they call. */
const NARROWEST = 2.5;

/** Callers above, what they call below; the width is the time. Every frame has its share as a tooltip. */
export function flameGraph(root: Frame, title: string): string {
  const scale = (WIDTH - 2 * MARGIN) / root.total;
  const shapes: string[] = [];
  let deepest = 0;
  const draw = (frame: Frame, x: number, depth: number): void => {
    const width = frame.total * scale;
    if (width < NARROWEST) return;
    deepest = Math.max(deepest, depth);
    const y = 2 * ROW + depth * ROW;
    const share = `${((100 * frame.total) / root.total).toFixed(1)} %`;
    const label = fitting(`${frame.name} ${share}`, width) ?? fitting(frame.name, width) ?? '';
    shapes.push(
      `<g><title>${escaped(`${frame.name}${frame.room === '' ? '' : `, ${frame.room}`}: ${share}`)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${(width - 0.5).toFixed(1)}" height="${ROW - 1}" fill="${colourOf(frame.room)}"/>${label === '' ? '' : `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escaped(label)}</text>`}</g>`,
    );
    let from = x;
    for (const child of [...frame.children.values()].sort((a, b) => b.total - a.total)) {
      draw(child, from, depth + 1);
      from += child.total * scale;
    }
  };
  draw(root, MARGIN, 0);
  const height = 3 * ROW + (deepest + 1) * ROW;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="11">
<title>${escaped(title)}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="${MARGIN}" y="${ROW}" font-size="13">${escaped(title)}</text>
${shapes.join('\n')}
</svg>
`;
}

const fitting = (text: string, width: number): string | undefined => (text.length * CHARACTER < width - 4 ? text : undefined);

/** Light enough for black text, one hue for each room. */
function colourOf(room: string): string {
  let hash = 0;
  for (const character of room) hash = (hash * 31 + character.charCodeAt(0)) % 360;
  return `hsl(${hash} 60% ${room.startsWith('node') ? 88 : 78}%)`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] as string);
