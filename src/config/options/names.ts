/** Names of the services, licence and backup. */
import { none, type OptionRow } from './row.ts';

export const NAME_OPTIONS = {
  FRIENDLY_NAME: {
    path: 'friendlyName',
    type: 'string',
    default: none,
    live: true,
    summary: 'Display name of services that set none. Absent: the name of the service.',
  },
  SEMI_STRUCTURED_TRANSFORMER_FRIENDLY_NAME: {
    path: 'semi-structured-transformer.friendlyName',
    type: 'string',
    default: none,
    live: true,
    scope: 'transformer',
    own: { service: 'Semi-Structured-Transformer', of: 'FRIENDLY_NAME' },
    summary: 'Display name of the Semi-Structured-Transformer. Absent: FRIENDLY_NAME.',
  },
  SQL_TRANSFORMER_FRIENDLY_NAME: {
    path: 'sql-transformer.friendlyName',
    type: 'string',
    default: none,
    live: true,
    scope: 'transformer',
    own: { service: 'SQL-Transformer', of: 'FRIENDLY_NAME' },
    summary: 'Display name of the SQL-Transformer. Absent: FRIENDLY_NAME.',
  },
  GRAPH_WRITER_FRIENDLY_NAME: {
    path: 'graph-writer.friendlyName',
    type: 'string',
    default: none,
    live: true,
    scope: 'writer',
    own: { service: 'Graph-Writer', of: 'FRIENDLY_NAME' },
    summary: 'Display name of the Graph-Writer. Absent: FRIENDLY_NAME.',
  },
  LICENSE: {
    path: 'license',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    summary: 'Signed licence text. Absent: the community licence. Runs do not start with a licence that is not valid.',
  },
  LICENSE_PUBLIC_KEY: {
    path: 'licensePublicKey',
    type: 'string',
    default: none,
    pattern: {
      test: /^(-----BEGIN PUBLIC KEY-----)?\s*MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=\s*(-----END PUBLIC KEY-----)?$/,
      says: 'an Ed25519 public key in PEM form, or its base64 line alone',
    },
    summary: 'Public key of the licensor that issued LICENSE, beside those of the build: Ed25519, in PEM form or its base64 line alone.',
    start: 'a caller who may change options could sign licences',
  },
  CONFIG_BACKUP: {
    path: 'configBackup',
    type: 'url',
    default: none,
    live: true,
    place: 'write',
    summary:
      'File or directory that a backup of the configuration is written to. A process whose environment sets it, and whose queue is new, restores the configuration from it. Absent: `backup` under DATA_DIR, and nothing is restored.',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
