/** The image, docker-compose.yml and the Kubernetes manifests fit the program, and each other. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseTokens } from '../../api/access/tokens.ts';
import { DEFAULTS, OPTION_NAMES, type OptionName, optionRow } from '../../src/config/options/options.ts';
import { parseOption } from '../../src/config/parse.ts';
import { VERSION } from '../../src/config/version.ts';
import { Secret } from '../../src/core/secret.ts';
import { METRICS, registry } from '../../src/core/telemetry/observe.ts';
import { parseJdbcUrl } from '../../src/sql/jdbc/jdbc.ts';
import { missingPostgres, startPostgres } from '../servers/databases/postgres.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { type FakeApi, startFakeApi } from '../support/service/fake.ts';
import { ask } from '../support/service/process.ts';
import { readYaml, type Yaml } from '../support/yaml.ts';

const file = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const isFile = (path: string): boolean => existsSync(join(PROJECT_ROOT, path)) && statSync(join(PROJECT_ROOT, path)).isFile();
const isOption = (name: string): name is OptionName => (OPTION_NAMES as readonly string[]).includes(name);
/** A version, not a name that tomorrow stands for another image. */
const PINNED = /^[\w./-]+:v?\d+\.\d+(\.\d+)?(-[\w.]+)?$/;
/** What is spent after DRAIN_SECONDS, on closing connections and answering who waits. */
const CLOSING_SECONDS = 15;
/** More seconds than any of our periods; they stand with the unit `s`. */
const seconds = (text: string): number => Number(/^(\d+)s$/.exec(text)?.[1]);

let api: FakeApi;
/** Paths that everybody may GET, without a token. */
let open: readonly string[];

beforeAll(async () => {
  api = await startFakeApi({ API_TOKENS: [new Secret('vic:viewer:v-token')] });
  const { body } = await ask(`${api.url}/openapi.json`);
  open = Object.entries(body.paths as Record<string, { get?: { security?: unknown } }>)
    .filter(([, { get }]) => get !== undefined && get.security === undefined)
    .map(([path]) => path);
});
afterAll(() => api.close());

describe('Dockerfile', () => {
  const text = file('Dockerfile').replace(/\\\n\s*/g, ' ');
  const lines = text
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)] as const);
  const of = (instruction: string): readonly string[] => lines.filter(([name]) => name === instruction).map(([, rest]) => rest);
  const last = lines.slice(lines.findLastIndex(([name]) => name === 'FROM'));

  test('is built in stages from pinned images of a Node that the program takes', () => {
    const images = of('FROM').map((from) => from.split(' ')[0] as string);
    expect(images).toHaveLength(2);
    for (const image of images) expect(image).toMatch(/^node:\d+\.\d+\.\d+-[\w-]+$/);
    const { engines } = JSON.parse(file('package.json')) as { engines: { node: string } };
    const wanted = Number(/^>=(\d+)/.exec(engines.node)?.[1]);
    for (const image of images) expect(Number(/:(\d+)/.exec(image)?.[1])).toBeGreaterThanOrEqual(wanted);
  });

  test('copies what is there and what .dockerignore lets through', () => {
    const ignore = file('.dockerignore').trim().split('\n');
    expect(ignore[0]).toBe('*');
    const sent = ignore.slice(1).map((line) => line.replace(/^!/, ''));
    const copied = of('COPY')
      .filter((rest) => !rest.startsWith('--from'))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    expect(copied.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toEqual([]);
    expect(copied.filter((path) => !sent.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual([]);
    expect(sent.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toEqual([]);
  });

  test('takes every room of the program along', () => {
    const rooms = ['api', 'bin', 'queues', 'src', 'studio', 'workers'];
    expect(of('COPY').filter((rest) => rooms.some((room) => rest === `${room} ${room}`))).toHaveLength(rooms.length);
  });

  test('runs as a user without privileges, and ends in the program', () => {
    const value = (name: string): string | undefined => last.find(([one]) => one === name)?.[1];
    expect(value('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    // As a list: a shell in between would keep the signals to itself.
    const [node, program] = JSON.parse(value('ENTRYPOINT') as string) as string[];
    expect([node, isFile(program as string)]).toEqual(['node', true]);
    expect(JSON.parse(value('CMD') as string)).toEqual(['serve']);
    expect(value('RUN')).toContain(`chown ${value('USER')} ${value('VOLUME')}`);
  });

  test('sets options that there are, and asks a path that is open to everybody whether it is well', () => {
    const environment = Object.fromEntries(
      of('ENV').flatMap((rest) => rest.split(/\s+/).map((one) => one.split('=') as [string, string])),
    ) as Record<string, string>;
    expect(environment.NODE_ENV).toBe('production');
    for (const [name, value] of Object.entries(environment)) if (name !== 'NODE_ENV') parseOption(name as OptionName, value);
    expect(of('EXPOSE')).toEqual([environment.PORT]);
    expect(open).toContain(/:\/\/127\.0\.0\.1:\$\{process\.env\.PORT\}([\w/]+)/.exec(of('HEALTHCHECK')[0] as string)?.[1]);
  });

  test('its check of health says what the service says', async () => {
    const [, command] = /CMD (\[.*\])/.exec(of('HEALTHCHECK')[0] as string) ?? [];
    const [, ...args] = JSON.parse(command as string) as string[];
    const check = (port: string): Promise<number> =>
      new Promise((resolve) => {
        execFile(process.execPath, args, { env: { PORT: port } }, (error) => resolve(error === null ? 0 : Number(error.code)));
      });
    const { port } = new URL(api.url);
    expect(await check(port)).toBe(0);
    api.runs.breaks('refuses');
    expect(await check(port)).toBe(1);
    api.runs.breaks(undefined);
    expect(await check('1')).toBe(1);
  });
});

describe('docker-compose.yml', () => {
  const [compose] = readYaml('docker-compose.yml');
  const services = compose.services as Record<string, Yaml>;
  const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);
  /** As Compose fills in variables: those that are given, their defaults, an error for what is demanded. */
  const filled = (text: string, given: Readonly<Record<string, string>> = {}): string =>
    text.replace(/\$\{(\w+)(?:(:[-?+])((?:[^${}]|\$\{\w+\})*))?\}/g, (_, name: string, how = '', rest = '') => {
      const value = given[name] ?? '';
      if (how === ':+') return value === '' ? '' : filled(rest, given);
      if (value !== '') return value;
      if (how === ':?') throw new Error(`${name} is demanded`);
      return how === ':-' ? filled(rest, given) : '';
    });

  test('starts little by itself, and knows every part of a fleet', () => {
    expect(
      Object.keys(services)
        .filter((name) => services[name].profiles === undefined)
        .sort(),
    ).toEqual(['api', 'redis', 'worker']);
    expect(Object.keys(services).sort()).toEqual(
      ['api', 'grafana', 'kafka', 'postgres', 'prometheus', 'redis', 'triplestore', 'worker'].sort(),
    );
    for (const { profiles } of Object.values(services)) if (profiles !== undefined) expect(profiles).toContain('all');
  });

  test.each(Object.entries(services))('%s has a pinned image, and names only what is there', (_, service) => {
    expect(service.image).toMatch(PINNED);
    const after = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
    expect(after.filter((name: string) => !(name in services))).toEqual([]);
    for (const [name, { condition }] of Object.entries<Yaml>(Array.isArray(service.depends_on) ? {} : (service.depends_on ?? {}))) {
      if (condition === 'service_healthy') expect(services[name].healthcheck ?? services[name].build).toBeDefined();
    }
    for (const mount of (service.volumes ?? []) as string[]) {
      const [from = '', to] = mount.split(':');
      expect(to).toMatch(/^\//);
      if (from.startsWith('.')) expect(existsSync(join(PROJECT_ROOT, from))).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(from);
    }
    for (const secret of service.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(secret);
    // Nothing is reachable from elsewhere unless it is configured.
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  test('has no unused volume', () => {
    const used = Object.values(services).flatMap(({ volumes = [] }) => volumes.map((mount: string) => mount.split(':')[0]));
    expect(Object.keys(compose.volumes).filter((name) => !used.includes(name))).toEqual([]);
  });

  test.each(ours)('%s gets options that there are, with values that they take', (_, { environment }) => {
    const given = { API_TOKENS: 'me:admin:s3cret', METRICS_TOKEN: 'm3trics' };
    for (const [name, text] of Object.entries<string>(environment)) {
      expect(isOption(name)).toBe(true);
      parseOption(name as OptionName, filled(text, given));
    }
    expect(() => filled(environment.API_TOKENS)).toThrow(/demanded/);
    expect(parseTokens(parseOption('API_TOKENS', filled(environment.API_TOKENS, given))).map(({ role }) => role)).toEqual([
      'admin',
      'viewer',
    ]);
    expect(parseTokens(parseOption('API_TOKENS', filled(environment.API_TOKENS, { API_TOKENS: 'me:admin:x' })))).toHaveLength(1);
  });

  test('is one fleet: the same options and files, a role each, and time to drain', () => {
    expect(ours.map(([name]) => name)).toEqual(['api', 'worker']);
    for (const [name, service] of ours) {
      expect(service.command).toBe(`serve --role ${name}`);
      expect(service.image).toBe(`quadmill:${VERSION}`);
      expect(service.environment).toEqual(services.api.environment);
      expect(service.volumes).toContain(`files:${service.environment.DATA_DIR}`);
      expect(seconds(service.stop_grace_period)).toBeGreaterThanOrEqual(DEFAULTS.DRAIN_SECONDS + CLOSING_SECONDS);
    }
    expect(services.worker.ports).toEqual([]);
  });

  test('names hosts that are services here, at the ports where they listen', () => {
    const { environment } = services.api;
    expect(new URL(environment.QUEUE_URL)).toMatchObject({ protocol: 'redis:', hostname: 'redis', port: '6379' });
    const { POSTGRES_DB: database } = services.postgres.environment;
    expect(parseJdbcUrl({ url: filled(environment.JDBC_URL) })).toMatchObject({ server: { host: 'postgres', port: 5432 }, database });
    expect(filled(environment.DB_PASSWORD)).toBe(filled(services.postgres.environment.READER_PASSWORD));
    expect(file('docker/shop.sh')).toContain(`CREATE USER ${filled(environment.DB_USER)} `);
    expect(new URL(filled(environment.TRIPLESTORE_ENDPOINT))).toMatchObject({ hostname: 'triplestore', port: '7878' });
    expect(services.triplestore.command).toContain('--bind 0.0.0.0:7878');
    expect(services.kafka.environment.KAFKA_ADVERTISED_LISTENERS).toBe('PLAINTEXT://kafka:9092');
    expect(services.redis.command).toContain('--appendonly yes');
    expect(services.redis.command).toContain('--maxmemory-policy noeviction');
  });

  test('has Prometheus ask the processes where they listen, with a token, and load the alerts', () => {
    const [{ scrape_configs, rule_files }] = readYaml('grafana/prometheus.yml');
    const [{ dns_sd_configs, metrics_path, authorization }] = scrape_configs;
    expect(dns_sd_configs[0].names).toEqual(ours.map(([name]) => name));
    expect(String(dns_sd_configs[0].port)).toBe(/PORT=(\d+)/.exec(file('Dockerfile'))?.[1]);
    expect(metrics_path).toBe('/metrics');
    expect(authorization.credentials_file).toBe(`/run/secrets/${services.prometheus.secrets[0]}`);
    expect(compose.secrets[services.prometheus.secrets[0]]).toEqual({ environment: 'METRICS_TOKEN' });
    const mounted = services.prometheus.volumes.map((mount: string) => mount.split(':')[1]);
    expect(rule_files.filter((path: string) => !mounted.includes(path))).toEqual([]);
  });
});

const missing =
  (await missingPostgres()) ??
  (await promisify(execFile)('psql', ['--version']).then(
    () => undefined,
    () => 'there is no psql',
  ));

(missing === undefined ? test : test.skip)(
  `the sample database is mapped by the sample mapping, as the user who may only read${missing === undefined ? '' : ` (not tested: ${missing})`}`,
  async () => {
    const postgres = await startPostgres();
    if ('skip' in postgres) throw new Error(postgres.skip);
    const run = promisify(execFile);
    const at = { PATH: process.env.PATH, PGHOST: '127.0.0.1', PGPORT: String(postgres.port) };
    try {
      const secrets = { POSTGRES_USER: 'postgres', POSTGRES_DB: 'postgres', READER_PASSWORD: "it's for this machine" };
      await run('bash', [join(PROJECT_ROOT, 'docker/shop.sh')], { env: { ...at, ...secrets } });
      const url = `jdbc:postgresql://127.0.0.1:${postgres.port}/postgres`;
      const args = [join(PROJECT_ROOT, 'bin/quadmill.js'), 'run', join(PROJECT_ROOT, 'docker/shop.ttl'), '--jdbc-url', url];
      const { stdout } = await run(process.execPath, args, {
        env: { PATH: process.env.PATH, DB_USER: 'reader', DB_PASSWORD: secrets.READER_PASSWORD },
      });
      const lines = stdout.trim().split('\n');
      expect(lines).toHaveLength(3 * 2 + 2 * 3);
      expect(lines).toContain('<http://example.com/customer/3> <https://schema.org/name> "Zoë" .');
      expect(lines).toContain('<http://example.com/purchase/12> <https://schema.org/customer> <http://example.com/customer/3> .');
      const reader = { ...at, PGUSER: 'reader', PGDATABASE: 'postgres', PGPASSWORD: secrets.READER_PASSWORD };
      await expect(run('psql', ['-c', 'DELETE FROM purchase'], { env: reader })).rejects.toThrow(/permission denied/);
    } finally {
      await postgres.stop();
    }
  },
  60_000,
);

describe('the Kubernetes manifests', () => {
  const directories = readdirSync(join(PROJECT_ROOT, 'k8s')).map((name) => `k8s/${name}`);
  const yamls = directories.flatMap((path) => readdirSync(join(PROJECT_ROOT, path)).map((name) => `${path}/${name}`));
  const documents = yamls.flatMap((path) => readYaml(path).map((document) => [path, document] as const));
  const ofKind = (kind: string): readonly Yaml[] => documents.map(([, document]) => document).filter((document) => document.kind === kind);
  const named = (kind: string, name: string): Yaml => ofKind(kind).find(({ metadata }) => metadata.name === name);
  const deployments = ofKind('Deployment');
  const selects = (selector: Record<string, string>, labels: Record<string, string>): boolean =>
    Object.entries(selector).every(([key, value]) => labels[key] === value);
  const pods = deployments.map(({ spec }) => spec.template.metadata.labels as Record<string, string>);

  /** Kinds and the version of each that today's clusters take. */
  const VERSIONS: Readonly<Record<string, string>> = {
    Namespace: 'v1',
    ConfigMap: 'v1',
    Secret: 'v1',
    Service: 'v1',
    PersistentVolumeClaim: 'v1',
    Deployment: 'apps/v1',
    PodDisruptionBudget: 'policy/v1',
    NetworkPolicy: 'networking.k8s.io/v1',
    Kustomization: 'kustomize.config.k8s.io/v1beta1',
    PodMonitor: 'monitoring.coreos.com/v1',
    ScaledObject: 'keda.sh/v1alpha1',
  };

  test.each(documents.map(([path, document]) => [`${path} ${document.kind}`, document] as const))(
    '%s is of a kind that there is',
    (_, document) => {
      expect(document.apiVersion).toBe(VERSIONS[document.kind]);
      if (document.kind !== 'Kustomization') expect(document.metadata.name).toMatch(/^[a-z][a-z0-9-]{0,62}$/);
    },
  );

  test('every file is part of what is applied, but for the template of the secret', () => {
    const listed = documents
      .filter(([, { kind }]) => kind === 'Kustomization')
      .flatMap(([path, { resources }]) => (resources as string[]).map((one) => normalize(join(dirname(path), one))));
    expect(listed.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toEqual([]);
    const left = yamls.filter((path) => !listed.includes(path) && !path.endsWith('kustomization.yaml'));
    expect(left).toEqual(['k8s/base/secret.example.yaml']);
    const [{ images }] = readYaml('k8s/base/kustomization.yaml');
    expect(images).toEqual([{ name: 'quadmill', newTag: VERSION }]);
  });

  test('an API and workers, each a role', () => {
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(['quadmill-api', 'quadmill-worker']);
    for (const { spec } of deployments) {
      const [container] = spec.template.spec.containers;
      expect(container.args).toEqual(['serve', '--role', container.name]);
      expect(container.image).toBe('quadmill');
    }
  });

  test.each(deployments.map((one) => [one.metadata.name, one] as const))('%s: labels, ports, volumes and probes fit', (_, { spec }) => {
    const pod = spec.template.spec;
    const [container] = pod.containers;
    expect(selects(spec.selector.matchLabels, spec.template.metadata.labels)).toBe(true);
    expect(pods.filter((labels) => selects(spec.selector.matchLabels, labels))).toHaveLength(1);
    const ports = container.ports.map(({ name }: Yaml) => name);
    const environment = Object.fromEntries(container.env.map(({ name, value }: Yaml) => [name, value]));
    expect(String(container.ports[0].containerPort)).toBe(environment.PORT);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      expect(open).toContain(container[probe].httpGet.path);
      expect(ports).toContain(container[probe].httpGet.port);
    }
    // A process must not be killed because the queue is away.
    expect(container.livenessProbe.httpGet.path).toBe('/health/live');
    const volumes = pod.volumes.map(({ name }: Yaml) => name);
    expect(container.volumeMounts.map(({ name }: Yaml) => name).filter((name: string) => !volumes.includes(name))).toEqual([]);
    for (const { persistentVolumeClaim: claim } of pod.volumes) {
      if (claim !== undefined) expect(named('PersistentVolumeClaim', claim.claimName).spec.accessModes).toEqual(['ReadWriteMany']);
    }
  });

  test.each(deployments.map((one) => [one.metadata.name, one] as const))(
    '%s has the rights that it needs, and time to drain',
    (_, { spec }) => {
      const pod = spec.template.spec;
      const [container] = pod.containers;
      const [, user] = /^USER (\d+):/m.exec(file('Dockerfile')) ?? [];
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: Number(user),
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.resources.requests).toHaveProperty('cpu');
      expect(container.resources.limits).toHaveProperty('memory');
      const drain = Number(named('ConfigMap', 'quadmill').data.DRAIN_SECONDS);
      const before = Number(container.lifecycle?.preStop.exec.command[1] ?? 0);
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(before + drain + CLOSING_SECONDS);
    },
  );

  test('a worker has the memory that its threads may take', () => {
    const { data } = named('ConfigMap', 'quadmill');
    const [{ resources }] = named('Deployment', 'quadmill-worker').spec.template.spec.containers;
    const gibibytes = Number(/^(\d+)Gi$/.exec(resources.limits.memory)?.[1]);
    // Runs and slices have separate places.
    expect(gibibytes * 1024).toBeGreaterThan(2 * Number(data.WORKER_CONCURRENCY) * Number(data.THREAD_MEMORY_MB) + 300);
  });

  test('options are what they say, secrets are secrets, and neither stands in the other place', () => {
    const { data } = named('ConfigMap', 'quadmill');
    for (const [name, value] of Object.entries<string>(data)) {
      expect(isOption(name)).toBe(true);
      expect(optionRow(name as OptionName).secret).toBeUndefined();
      parseOption(name as OptionName, value);
    }
    const secret = named('Secret', 'quadmill');
    for (const [name, value] of Object.entries<string>(secret.stringData)) {
      expect(value).toBe('');
      expect(isOption(name) || name === 'METRICS_TOKEN').toBe(true);
    }
    for (const { spec } of deployments) {
      const [{ envFrom, env }] = spec.template.spec.containers;
      expect(envFrom).toEqual([{ configMapRef: { name: 'quadmill' } }, { secretRef: { name: 'quadmill' } }]);
      for (const { name, value } of env) parseOption(name, value);
    }
    for (const path of ['DATA_DIR', 'OUTPUT_DIR_URL', 'MAPPINGS_DIR_URL']) {
      const mounts = deployments[0].spec.template.spec.containers[0].volumeMounts.map(({ mountPath }: Yaml) => mountPath as string);
      expect(mounts.some((mount: string) => (data[path] as string).replace('file://', '').startsWith(mount))).toBe(true);
    }
  });

  test('what selects pods finds some, by ports that they have', () => {
    const selectors = [
      ...ofKind('Service').map(({ spec }) => spec.selector),
      ...ofKind('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels),
      ...ofKind('NetworkPolicy').map(({ spec }) => spec.podSelector.matchLabels),
      ...ofKind('PodMonitor').map(({ spec }) => spec.selector.matchLabels),
    ];
    expect(selectors.map((selector) => pods.filter((labels) => selects(selector, labels)).length)).toEqual([1, 1, 1, 1, 2]);
    const ports = deployments[0].spec.template.spec.containers[0].ports.map(({ name }: Yaml) => name);
    expect(ports).toContain(named('Service', 'quadmill').spec.ports[0].targetPort);
    expect(ports).toContain(named('NetworkPolicy', 'quadmill-worker').spec.ingress[0].ports[0].port);
    expect(ports).toContain(named('PodMonitor', 'quadmill').spec.podMetricsEndpoints[0].port);
  });

  test('the metrics that workers are scaled by are there', () => {
    const [monitor] = ofKind('PodMonitor')[0].spec.podMetricsEndpoints;
    const { credentials } = monitor.authorization;
    expect(named('Secret', credentials.name).stringData).toHaveProperty(credentials.key);
    const { spec } = named('ScaledObject', 'quadmill-worker');
    expect(named('Deployment', spec.scaleTargetRef.name).spec.replicas).toBeUndefined();
    expect(spec.triggers).toHaveLength(1);
    const { query, threshold } = spec.triggers[0].metadata;
    const names = [...(query as string).matchAll(/rml_\w+/g)].map(([name]) => name);
    expect(names).toEqual(['rml_queue_runs', 'rml_queue_slices']);
    for (const name of names) expect(registry.getSingleMetric(name)).toBeDefined();
    expect(METRICS.queueDepth).toBeDefined();
    expect(threshold).toBe(named('ConfigMap', 'quadmill').data.WORKER_CONCURRENCY);
    expect(spec.minReplicaCount).toBeGreaterThanOrEqual(1);
    expect(spec.fallback.replicas).toBeLessThanOrEqual(spec.maxReplicaCount);
  });
});
