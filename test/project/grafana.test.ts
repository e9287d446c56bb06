/** The dashboard shows the metrics that there are, all of them, and nothing else; alerts ask for what there is. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { METRICS, metricsText, observeProcess, registry } from '../../src/core/telemetry/observe.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { readYaml } from '../support/yaml.ts';

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

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
const alerts = (readYaml('grafana/alerts.yml')[0].groups as { rules: readonly Alert[] }[]).flatMap(({ rules }) => rules);
const everyQuery = [...queries, ...alerts.map(({ alert, expr }) => [alert, expr] as const)];

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
/** Samples that Prometheus makes itself. */
const OF_PROMETHEUS = ['up'];

beforeAll(async () => {
  observeProcess();
  for (const [, name, kind] of (await metricsText({ counts: async () => ({ queued: 0 }) })).matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
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

  test.each(charts.map((panel) => [panel.title, panel] as const))('says what it shows, and in which unit: %s', (title, panel) => {
    expect(title).toMatch(/\S/);
    expect(panel.description).toMatch(/\S/);
    expect(panel.fieldConfig?.defaults.unit).toMatch(/\S/);
    expect(panel.targets?.length).toBeGreaterThan(0);
  });

  test('has a separate place and number for each panel', () => {
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

const labelsOfMetric = (name: string): readonly string[] => {
  const metric = registry.getSingleMetric(name.replace(/_(bucket|sum|count)$/, ''));
  return [...EVERYWHERE, ...((metric as unknown as { labelNames?: string[] })?.labelNames ?? [])];
};

/** The texts of the program. */
const sources = ['src', 'queues', 'workers', 'api'].flatMap((room) =>
  readdirSync(join(PROJECT_ROOT, room), { recursive: true })
    .filter((path) => String(path).endsWith('.ts'))
    .map((path) => file(join(room, String(path)))),
);

/** Values that a query selects labels by, alternatives of patterns one by one; patterns of another shape are left out. */
function valuesOf(query: string): readonly string[] {
  const selected = [...query.matchAll(/\b(?!job\b)\w+\s*[=!]~?\s*"([^"]*)"/g)].flatMap(([, text]) => (text as string).split('|'));
  return selected.filter((value) => /^[\w-]+$/.test(value));
}

describe('queries of panels and alerts', () => {
  test.each(everyQuery)('ask for what there is: %s: %s', (_, query) => {
    const names = metricsOf(query).filter((name) => !OF_PROMETHEUS.includes(name));
    expect(metricsOf(query)).not.toEqual([]);
    expect(names.filter((name) => !samples.has(name))).toEqual([]);
    const labels = names.map((name) => [name, labelsOfMetric(name)] as const);
    const selected = [...query.matchAll(/([a-z_:]\w*)\{([^}]*)\}/g)].flatMap(([, name, list]) =>
      labelsOf(`{${list}}`).map((label) => [name as string, label] as const),
    );
    expect(selected.filter(([name, label]) => names.includes(name) && !labelsOfMetric(name).includes(label))).toEqual([]);
    expect(labelsOf(query).filter((label) => !labels.some(([, known]) => known.includes(label)) && names.length > 0)).toEqual([]);
    const said = (value: string): boolean =>
      sources.some((text) => text.includes(`'${value}'`) || new RegExp(`\\b${value}:|\\b${value} \\}|, ${value},`).test(text));
    expect(valuesOf(query).filter((value) => !said(value))).toEqual([]);
  });
});

describe('alerts', () => {
  test.each(alerts.map((alert) => [alert.alert, alert] as const))(
    '%s says what is wrong, how much it matters, and what to do',
    (name, alert) => {
      expect(name).toMatch(/^Quadmill[A-Z]\w+$/);
      expect(alert.for ?? '0m').toMatch(/^\d+[smh]$/);
      expect(['info', 'warning', 'critical']).toContain(alert.labels.severity);
      expect(alert.annotations.summary).toMatch(/\S/);
      expect(file('docs/operations.md')).toContain(`\`${name.slice('Quadmill'.length)}\``);
      // It has special labels, which nothing else here has.
      expect(alert.expr.replace(/on \(\) absent\(/g, '')).not.toContain('absent(');
      // What a text shows of the labels must be there after the query has summed up.
      const kept = [...EVERYWHERE, ...labelsOf(alert.expr)];
      const shown = [...(alert.annotations.summary as string).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label as string);
      expect(shown.filter((label) => !kept.includes(label))).toEqual([]);
    },
  );

  test('have a name each', () => expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length));

  test('there is one for everything that wakes a person up', () => {
    const watched = alerts.flatMap(({ expr }) => metricsOf(expr));
    const wanted = [
      'up',
      'rml_queue_oldest_seconds',
      'rml_queue_errors_total',
      'rml_runs_total',
      'rml_run_stalls_total',
      'rml_active_runs',
      'rml_messages_sent_total',
      'rml_disk_free_bytes',
      'rml_spill_bytes_total',
      'rml_event_loop_lag_seconds_bucket',
    ];
    expect(wanted.filter((name) => !watched.includes(name))).toEqual([]);
  });
});

const promtool = (...args: string[]) => promisify(execFile)('promtool', args, { cwd: join(PROJECT_ROOT, 'grafana') });
const missing = await promtool('--version').then(
  () => undefined,
  () => 'there is no promtool',
);

(missing === undefined ? test : test.skip)(
  `alerts come when they should, as Prometheus itself evaluates them${missing === undefined ? '' : ` (not tested: ${missing})`}`,
  async () => {
    await promtool('check', 'rules', 'alerts.yml');
    await promtool('check', 'config', '--syntax-only', 'prometheus.yml');
    await promtool('test', 'rules', 'alerts.test.yml');
  },
);

describe('the values of labels in a query', () => {
  test.each([
    ['a{x="b",y=~"c|d-e"}', ['b', 'c', 'd-e']],
    ['a{status=~"5.."}', []],
    ['up{job="quadmill"}', []],
  ])('%s', (query, expected) => expect(valuesOf(query)).toEqual(expected));
});

describe('the names of the metrics in a query', () => {
  test.each([
    ['a_total', ['a_total']],
    ['sum by (le, x) (rate(a_bucket{b="c"}[5m])) / b', ['a_bucket', 'b']],
    ['time() - start', ['start']],
    ['a or b', ['a', 'b']],
  ])('%s', (query, expected) => expect(metricsOf(query)).toEqual(expected));
});
