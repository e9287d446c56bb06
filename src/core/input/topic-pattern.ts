/** Names of topics in which `*` stands for any characters, also for none. It is in no name of a topic. */

export const isTopicPattern = (topic: string): boolean => topic.includes('*');

/** Whether a topic is meant. Internal topics, which begin with `__`, are meant by a name that begins so. Linear in the length of the names. */
export function matchesTopic(pattern: string, topic: string): boolean {
  if (!isTopicPattern(pattern)) return pattern === topic;
  const [first, ...rest] = pattern.split('*') as [string, ...string[]];
  const last = rest.pop() as string;
  if (topic.startsWith('__') && !first.startsWith('__')) return false;
  if (topic.length < first.length + last.length || !topic.startsWith(first) || !topic.endsWith(last)) return false;
  const end = topic.length - last.length;
  let at = first.length;
  // The first place where a part stands leaves most room for those behind it.
  for (const part of rest) {
    const found = topic.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
