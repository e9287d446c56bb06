/** The dashboard shows the metrics that there are, all of them, and nothing else; the files around it fit each other. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { METRICS, metricsText, observeProcess, registry } from '../src/observe.ts';
import { PROJECT_ROOT } from './project-root.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title?: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string }[];
}

const file = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const { panels } = JSON.parse(file('grafana/dashboards/quadmill.json')) as { readonly panels: readonly Panel[] };
const charts = panels.filter(({ type }) => type !== 'row');
const queries = charts.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title as string, expr] as const));

/** Words of PromQL that are no metric. */
const WORDS = new Set(['by', 'without', 'on', 'ignoring', 'and', 'or', 'unless', 'offset', 'bool']);

/** Names of the metrics of a query: what is left of its words without texts, labels, ranges and functions. */
function metricsOf(query: string): readonly string[] {
  const bare = query.replace(/\{[^}]*\}|\[[^\]]*\]/g, ' ').replace(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, ' ');
  return [...bare.matchAll(/[a-z_:][\w:]*(?!\w*\s*\()/gi)].map(([name]) => name).filter((name) => !WORDS.has(name));
}

/** Labels that a query asks for or selects by. */
function labelsOf(query: string): readonly string[] {
  const grouped = [...query.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list]) => (list as string).split(','));
  const selected = [...query.matchAll(/\{([^}]*)\}/g)].flatMap(([, list]) =>
    [...(list as string).matchAll(/(\w+)\s*[=!]/g)].map(([, name]) => name),
  );
  return [...grouped, ...selected].map((label) => (label as string).trim());
}

/** Every name that a sample of the scrape can have. */
const samples = new Set<string>();
/** Labels that Prometheus adds, and the one of histograms. */
const EVERYWHERE = ['instance', 'job', 'role', 'le'];

beforeAll(async () => {
  observeProcess();
  for (const [, name, kind] of (await metricsText(async () => ({ queued: 0 }))).matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    for (const end of kind === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) samples.add(`${name}${end}`);
  }
});

describe('the dashboard', () => {
  test.each(registry.getMetricsAsArray().map(({ name, help }) => [name, help]))('shows %s: %s', (name) => {
    const shown = queries.flatMap(([, query]) => metricsOf(query)).map((metric) => metric.replace(/_(bucket|sum|count)$/, ''));
    expect(shown).toContain(name);
  });

  test('is looked at with every metric of the table', () => {
    const names = registry.getMetricsAsArray().map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('rml_'))).toHaveLength(Object.keys(METRICS).length);
  });

  test.each(queries)('asks for what there is: %s: %s', (_, query) => {
    const names = metricsOf(query);
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !samples.has(name))).toEqual([]);
    for (const name of names) {
      const metric = registry.getSingleMetric(name.replace(/_(bucket|sum|count)$/, ''));
      const labels = [...EVERYWHERE, ...((metric as unknown as { labelNames: string[] }).labelNames ?? [])];
      expect(labelsOf(query).filter((label) => !labels.includes(label))).toEqual([]);
    }
  });

  test.each(charts.map((panel) => [panel.title, panel] as const))('says what it shows, and in which unit: %s', (title, panel) => {
    expect(title).toMatch(/\S/);
    expect(panel.description).toMatch(/\S/);
    expect(panel.fieldConfig?.defaults.unit).toMatch(/\S/);
    expect(panel.targets?.length).toBeGreaterThan(0);
  });

  test('has a place and a number of its own for each panel', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const places = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    );
    expect(new Set(places).size).toBe(places.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24);
  });

  test('asks the data source that is provisioned', () => {
    const uid = /^ +uid: (\S+)$/m.exec(file('grafana/provisioning/datasources/prometheus.yml'))?.[1];
    expect([...new Set(charts.map(({ datasource }) => datasource?.uid))]).toEqual([uid]);
  });
});

describe('the names of the metrics in a query', () => {
  test.each([
    ['a_total', ['a_total']],
    ['sum by (le, x) (rate(a_bucket{b="c"}[5m])) / b', ['a_bucket', 'b']],
    ['time() - start', ['start']],
    ['a or b', ['a', 'b']],
  ])('%s', (query, expected) => expect(metricsOf(query)).toEqual(expected));
});

describe('docker-compose.yml', () => {
  const compose = file('docker-compose.yml');

  test('mounts files that are there', () => {
    const mounted = [...compose.matchAll(/'\.\/(grafana\/[^:]+):/g)].map(([, path]) => path as string);
    expect(mounted).toHaveLength(3);
    expect(mounted.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toEqual([]);
  });

  test('lets the processes listen that Prometheus asks', () => {
    const [, names, port] = /names: \[(.+)\], type: A, port: (\d+)/.exec(file('grafana/prometheus.yml')) ?? [];
    expect(names?.split(', ')).toEqual(['api', 'worker']);
    expect(compose).toContain(`serve --role worker --host 0.0.0.0 --port ${port}`);
    expect(compose).toContain(`'${port}:${port}'`);
  });
});
