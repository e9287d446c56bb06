/** Invalid mappings, and the messages about them. */
import { csv, json, type Row, xml } from './files.ts';
import { CSV, encoded, JSON_PATH, XPATH } from './mappings.ts';

export const WRONG_MAPPINGS: readonly Row[] = [
  [
    'a mapping that is not Turtle',
    { 'mapping.ttl': CSV.replace('Map [', 'Map [[') },
    'mapping/syntax',
    {},
    ['mapping.ttl:6:19: ', 'found `[`'],
  ],
  [
    'a term that the vocabulary does not have',
    { 'mapping.ttl': CSV.replace('rml:template', 'rml:templat') },
    'mapping/invalid',
    {},
    ['mapping.ttl:6:20: ', 'rml:templat', 'did you mean rml:template?'],
  ],
  [
    'an encoding that the vocabulary does not have',
    { 'mapping.ttl': encoded(CSV, 'UTF-9') },
    'mapping/invalid',
    {},
    ['mapping.ttl:5:', 'rml:UTF-9', 'did you mean rml:UTF-8'],
  ],
  [
    'a triples map without a logical source',
    { 'mapping.ttl': CSV.replace(/rml:logicalSource[\s\S]+?\] \] ;/, '') },
    'mapping/invalid',
    {},
    ['mapping.ttl:3:1: ', 'Person has no logical source', 'add rml:logicalSource'],
  ],
  [
    'a source file that is not there, with a near name',
    { 'mapping.ttl': CSV, 'peple.csv': '' },
    'source/missing',
    {},
    ['There is no file people.csv', 'has peple.csv'],
  ],
  [
    'a source file in a directory that is not there',
    { 'mapping.ttl': CSV.replace('people.csv', 'data/in/people.csv') },
    'source/missing',
    {},
    ['There is no file data/in/people.csv', 'There is no directory data'],
  ],
  ['a source file that is a directory', { 'mapping.ttl': CSV, 'people.csv/a': '' }, 'source/refused', {}, ['people.csv is a directory']],
  [
    'a column that is not there',
    csv('id,nmae\n1,Ada\n'),
    'mapping/reference',
    { expression: 'name' },
    ['no column "name"', 'people.csv', 'mapping.ttl:7:', 'Did you mean "nmae"?'],
  ],
  [
    'a column of a template that is not there',
    csv('key,name\n1,Ada\n'),
    'mapping/reference',
    { expression: 'id' },
    ['no column "id"', 'mapping.ttl:6:', '"key"'],
  ],
  [
    'an iterator that is no JSONPath',
    { ...json('{}'), 'mapping.ttl': JSON_PATH.replace('people[*]', 'people[') },
    'mapping/invalid',
    {},
    ['not a JSONPath', '"[" has no "]"', 'at character 9', 'mapping.ttl:4:'],
  ],
  [
    'a reference that is no JSONPath',
    { ...json('{}'), 'mapping.ttl': JSON_PATH.replace('"$.name"', '"$.first name"') },
    'mapping/invalid',
    {},
    ['not a JSONPath', 'at character 8', 'mapping.ttl:7:', "$['first name']"],
  ],
  [
    'an iterator that is no XPath',
    { ...xml('<people/>'), 'mapping.ttl': XPATH.replace('/people/person', '/people/person[') },
    'mapping/invalid',
    {},
    ['is not an XPath', 'from "[" on, at character 15', 'mapping.ttl:4:'],
  ],
  [
    'a reference that is no XPath',
    { ...xml('<people/>'), 'mapping.ttl': XPATH.replace('"name"', '"name["') },
    'mapping/invalid',
    {},
    ['is not an XPath', 'from "[" on, at character 5', 'mapping.ttl:7:'],
  ],
  [
    'a function that XPath does not have',
    { ...xml('<people/>'), 'mapping.ttl': XPATH.replace('"name"', '"upper(name)"') },
    'mapping/invalid',
    {},
    ['XPath', 'there is no function upper with 1 argument', 'mapping.ttl:7:'],
  ],
];
