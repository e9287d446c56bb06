/** Mappings of the recorded shop: of all columns whose values can be exact with the settings of a connector, and what differs from the tables. */

/** Of the connector: its defaults, those that are recommended, or defaults with schemas. `log`: no connector. */
export type Settings = 'defaults' | 'recommended' | 'schemas' | 'log';

export interface Difference {
  /** `postgres-pgr`. */
  readonly variant: string;
  readonly scenario: string;
  /** A statement. */
  readonly line: string;
  /** Whether the follower has it, and not the tables. */
  readonly isOurs: boolean;
}

/** What a column needs without a schema: a datatype that the mapping declares, with or without a zone; `lost`: its value is not exact. */
type Needs = 'decimal' | 'date' | 'dateTime' | 'local' | 'lost' | undefined;

interface TableOf {
  readonly subject: string;
  readonly columns: Readonly<Record<string, Needs>>;
  /** Parent → [child, parent column]. */
  readonly joins?: Readonly<Record<string, readonly [string, string]>>;
}

const columns = (names: string, needs: Needs = undefined): Readonly<Record<string, Needs>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, needs]));

const JOINS = {
  orders: { customers: ['customer_id', 'id'] },
  order_lines: { orders: ['order_id', 'id'], products: ['sku', 'sku'] },
} as const;

const isAfterChange = (scenario: string): boolean => scenario >= '10';

function tablesOf(database: string, scenario: string): Readonly<Record<string, TableOf>> {
  const isPostgres = database === 'postgres';
  const time = isPostgres ? 'dateTime' : 'local';
  const isLater = isAfterChange(scenario);
  return {
    customers: {
      subject: '{id}',
      columns: {
        ...columns('email name vip prefs'),
        ...columns('photo', 'lost'),
        ...(isPostgres ? { ...columns('token tags'), updated_at: 'local' } : { ...columns('interests'), updated_at: 'local' }),
        credit: 'decimal',
        born: 'date',
        created_at: time,
      },
    },
    products: {
      subject: '{sku}',
      columns: {
        ...columns(`name description ${isPostgres ? 'attributes' : ''} ${isLater ? 'kilograms' : 'weight'}`.replace(/ +/g, ' ')),
        price: 'decimal',
        ...(isLater ? { stock: 'decimal' } : { launched: 'date' }),
      },
    },
    orders: { subject: '{id}', columns: { ...columns('status note'), placed_at: time }, joins: JOINS.orders },
    order_lines: { subject: '{order_id}/{line_no}', columns: { ...columns('quantity'), price: 'decimal' }, joins: JOINS.order_lines },
    audit: { subject: '{what}', columns: { at: time } },
    ...(isPostgres && isLater ? { stores: { subject: '{id}', columns: columns('city') } } : {}),
    types: { subject: '{id}', columns: isPostgres ? POSTGRES_TYPES : MARIADB_TYPES },
  };
}

const POSTGRES_TYPES: Readonly<Record<string, Needs>> = {
  ...columns(
    'a_smallint a_bigint a_char a_bool a_uuid a_json a_jsonb a_xml a_inet a_cidr a_macaddr a_int4range a_tsvector a_ints a_texts a_enums a_oid',
  ),
  ...columns(
    'a_real a_double a_bytea a_numeric a_money a_bit a_bits a_time a_time3 a_timetz a_interval a_point a_tstzrange a_numerics a_dates a_matrix',
    'lost',
  ),
  ...columns('a_date', 'date'),
  ...columns('a_numeric_38_10', 'decimal'),
  ...columns('a_timestamp a_timestamp3', 'local'),
  ...columns('a_timestamptz', 'dateTime'),
};

/** Some of their values are not in the messages, with the defaults of a connector. */
const NOT_IN_MESSAGES: ReadonlySet<string> = new Set(['a_interval', 'a_timestamp', 'a_time']);

const MARIADB_TYPES: Readonly<Record<string, Needs>> = {
  ...columns('a_tinyint a_tinyint_u a_smallint_u a_mediumint a_int_u a_bigint a_char a_varchar a_latin a_text a_set a_json'),
  ...columns(
    'a_bool a_bigint_u a_float a_double a_bit1 a_bit12 a_time a_time6 a_binary a_varbinary a_blob a_enum a_uuid a_point a_year',
    'lost',
  ),
  ...columns('a_decimal', 'decimal'),
  ...columns('a_date', 'date'),
  ...columns('a_datetime a_datetime3 a_datetime6 a_timestamp a_timestamp6', 'local'),
};

const hasSchemas = (settings: Settings): boolean => settings === 'schemas' || settings === 'log';

/** Numbers whose unit or scale a message without a schema does not tell. */
const isExact = (needs: Needs, settings: Settings): boolean =>
  hasSchemas(settings) ||
  (needs !== 'lost' && (settings === 'recommended' || needs === undefined || needs === 'date' || needs === 'dateTime'));

export function mappingOf(database: string, settings: Settings, scenario: string): string {
  const maps = Object.entries(tablesOf(database, scenario)).flatMap(([table, { subject, columns: all, joins = {} }]) => {
    const name = database === 'postgres' ? `shop.${table}` : table;
    const own = Object.entries(all).filter(
      ([column, needs]) => isExact(needs, settings) && !(settings === 'schemas' && NOT_IN_MESSAGES.has(column)),
    );
    const pom = ([column, needs]: readonly [string, Needs]): string => {
      const type =
        needs === undefined || needs === 'lost' || hasSchemas(settings)
          ? ''
          : ` ; rr:datatype xsd:${needs === 'local' ? 'dateTime' : needs}`;
      return `rr:predicateObjectMap [ rr:predicate ex:${column} ; rr:objectMap [ rr:column "${column}"${type} ] ]`;
    };
    const map = (id: string, zone: string, poms: readonly string[]): string =>
      `<#${id}> rr:logicalTable [ rr:tableName "${name}"${zone} ] ;\n  ${[`rr:subjectMap [ rr:template "http://example.com/${table}/${subject}" ]`, ...poms].join(' ;\n  ')} .`;
    const parents = Object.entries(joins).map(
      ([parent, [child, key]]) =>
        `rr:predicateObjectMap [ rr:predicate ex:of_${parent} ; rr:objectMap [ rr:parentTriplesMap <#${parent}> ; rr:joinCondition [ rr:child "${child}" ; rr:parent "${key}" ] ] ]`,
    );
    const local = own.filter(([, needs]) => needs === 'local' && !hasSchemas(settings));
    return [
      map(table, '', [...own.filter((one) => !local.includes(one)).map(pom), ...parents]),
      ...(local.length === 0 ? [] : [map(`${table}_local`, ' ; qms:zone "none"', local.map(pom))]),
    ];
  });
  return `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex: <http://example.com/> .
@prefix qms: <http://w3id.org/quadmill/source#> .
${maps.join('\n')}
`;
}

const isOf =
  (variants: string, line: string | RegExp) =>
  (difference: Difference): boolean =>
    variants.split(' ').some((one) => difference.variant === one || difference.variant.startsWith(`${one}-`)) &&
    (typeof line === 'string' ? difference.line.includes(line) : line.test(difference.line));

const ofColumns = (variants: string, names: string): ((difference: Difference) => boolean) =>
  isOf(variants, new RegExp(`^\\S+ <http://example.com/(?:${names.split(' ').join('|')})> `));

/** What differs, and why it must. Each name is in use. */
export const NAMED: Readonly<Record<string, (difference: Difference) => boolean>> = {
  'rows that no event has touched have the columns before the change of the schema': (one) =>
    !one.isOurs &&
    ofColumns('postgres-pg postgres-pgr postgres-pgs postgres-pgf avro mariadb-ma mariadb-mar mariadb-mas', 'stock kilograms')(one),
  'a flattened topic has no truncates': (one) =>
    one.isOurs && one.scenario >= '07' && isOf('postgres-pgf', /^<http:\/\/example.com\/(?:orders|order_lines|audit)\//)(one),
  'a flattened topic does not say which rows a second snapshot lacks': (one) =>
    one.isOurs && one.scenario >= '15' && isOf('postgres-pgf', /^<http:\/\/example.com\/customers\/6>/)(one),
  'a flattened update of a table without a key does not say which row it replaces': (one) =>
    one.scenario >= '16' && isOf('postgres-pgf', '/audit/')(one),
  'a date before Christ has lost its era in a snapshot': (one) =>
    one.scenario >= '15' && isOf('postgres', /^<http:\/\/example.com\/types\/4> \S+a_date> /)(one),
  'CHAR of MariaDB is not padded': (one) => ofColumns('mariadb-ma mariadb-mar mariadb-mas', 'a_char')(one),
  'dates of zeros are null, and the tables have no graph of their row': (one) =>
    one.isOurs && isOf('mariadb-ma mariadb-mar mariadb-mas', '/types/3>')(one),
  'BIGINT UNSIGNED is signed, unless bigint.unsigned.handling.mode=precise': isOf(
    'mariadb-ma mariadb-mas',
    /customers\/(?:-1|18446744073709551615)>/,
  ),
  'without the converter TINYINT(1) is a number': ofColumns('mariadb-ma mariadb-mas', 'vip a_bool a_bigint_u a_bit1'),
  'InnoDB makes no events for rows that ON UPDATE CASCADE and ON DELETE CASCADE change': (one) =>
    one.scenario >= '04' && isOf('mariadb mysql', /^<http:\/\/example.com\/(?:orders\/\S+ \S+of_customers>|order_lines\/)/)(one),
  'MONEY, TIMETZ, BIT, BIT VARYING and arrays of arrays are others in a message': ofColumns(
    'avro postgres-pgs',
    'a_money a_timetz a_bit a_bits a_matrix',
  ),
  'a change by a statement makes no event': isOf(
    'mariadb-ma mariadb-mar mariadb-mas',
    /^<http:\/\/example.com\/products\/A-100> \S+price> /,
  ),
};

/** Of a second snapshot and what follows it, which not every recording has. */
export const OF_LATER: ReadonlySet<string> = new Set([
  'a flattened update of a table without a key does not say which row it replaces',
  'a flattened topic does not say which rows a second snapshot lacks',
  'a date before Christ has lost its era in a snapshot',
]);
