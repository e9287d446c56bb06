/** What values of several options must look like. */

/** @see https://kafka.apache.org/documentation/#topicconfigs */
export const TOPIC = {
  test: /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/,
  says: 'at most 249 letters, digits, dots, underscores and hyphens',
} as const;

export const BROKER = { test: /^(\[[0-9A-Fa-f:.]+\]|[^\s:/,@]+):\d{1,5}$/, says: '`host:port`' } as const;

export const RETENTION_LIMIT = {
  test: /^(\d{1,9}[smhd]?|\d{1,9}[KMGT]B|unwritten)$/,
  says: 'an age such as `30d`, a number of runs, a size such as `50GB`, or `unwritten`',
} as const;
