/** The environment of processes that run the code or read the files of others. */

/**
 * What a process needs to be found, and to write texts and times as this one does. Not the rest: logins, keys and tokens of the service are there.
 *
 * @param more names of further variables that the process needs
 */
export function plainEnvironment(...more: readonly string[]): NodeJS.ProcessEnv {
  const names = ['PATH', 'LANG', 'LC_ALL', 'TZ', ...more];
  // Node itself does not start on Windows without it.
  if (process.platform === 'win32') names.push('SystemRoot');
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}
