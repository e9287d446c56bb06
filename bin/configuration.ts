/** The configuration of a serving process: its secrets, and a backup to restore. */
import { resolve } from 'node:path';
import { backupPath, readBackup } from '../src/config/backup.ts';
import { DEFAULTS, type OptionValues, type Snapshot } from '../src/config/options/options.ts';
import { s3AccessOf } from '../src/config/run-defaults.ts';
import { openSecrets } from '../src/config/secrets.ts';
import { type ConfigStore, openConfig, type SharedSettings } from '../src/config/store.ts';
import type { Logger } from '../src/core/telemetry/observe.ts';

/**
 * @param settings those of the processes with the same SERVICE
 * @throws Fault config/invalid — no key for secrets; the file at CONFIG_BACKUP is not a backup
 */
export async function openConfiguration(
  options: OptionValues,
  settings: SharedSettings,
  workingDirectory: string,
  logger: Logger,
): Promise<ConfigStore> {
  const { SECRETS_KEY, DATA_DIR }: Snapshot = { ...DEFAULTS, ...options };
  const config = await openConfig(options, settings, {
    secrets: openSecrets(SECRETS_KEY, resolve(workingDirectory, DATA_DIR)),
    unreadable: (option) => logger.warn({ option }, 'secret not readable: it counts as not set'),
    foreignKey: () =>
      logger.warn('the fleet keeps its secrets under another key: give all processes the same SECRETS_KEY, or one DATA_DIR'),
  });
  try {
    await restore(config, options, workingDirectory, logger);
    return config;
  } catch (error) {
    config.close();
    throw error;
  }
}

/** A queue in which nothing was ever changed takes the changes of the backup that the environment names. */
async function restore(config: ConfigStore, options: OptionValues, workingDirectory: string, logger: Logger): Promise<void> {
  if (options.CONFIG_BACKUP === undefined || Object.keys(config.stored()).length > 0) return;
  const snapshot: Snapshot = { ...DEFAULTS, ...options };
  const path = await backupPath(snapshot, workingDirectory);
  const changes = await readBackup(path, s3AccessOf(snapshot));
  if (changes !== undefined && (await config.restore(changes, `backup ${path}`))) {
    logger.info({ path, options: Object.keys(changes) }, 'configuration restored');
  }
}
