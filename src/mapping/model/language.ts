/** The language of a mapping file, by the ending of its name. */

const OF_YARRRML = ['yml', 'yaml', 'yarrrml'];

/** Without their dot: those of files that a mapping directory has. */
export const MAPPING_EXTENSIONS: readonly string[] = ['ttl', ...OF_YARRRML];

/** For messages. */
export const MAPPING_ENDINGS = '.ttl, .yml, .yaml or .yarrrml';

const YARRRML = new RegExp(`\\.(?:${OF_YARRRML.join('|')})(?:[?#].*)?$`, 'i');

/** Whether the name or URL of a mapping is that of YARRRML: any other is Turtle. */
export const hasYarrrmlEnding = (name: string): boolean => YARRRML.test(name);

/** `shop.ttl` → `shop`, `shop.yarrr.yml` → `shop.yarrr`. Other names stay. */
export const withoutMappingEnding = (name: string): string => name.replace(new RegExp(`\\.(?:${MAPPING_EXTENSIONS.join('|')})$`, 'i'), '');
