/** Passwords in texts that the studio asks about. */
import { expect, test } from '@jest/globals';
import { assertNoPassword } from '../../../api/routes/studio/secrets.ts';

test.each([
  ['jdbc:oracle:thin:u/p@//host:1521/service', true],
  ['<#Db> d2rq:jdbcDSN "jdbc:oracle:thin:scott/tiger@host:1521:XE" .', true],
  ['jdbc:oracle:thin:"u"/"p"@(DESCRIPTION=(ADDRESS=(HOST=h)))', true],
  ['jdbc:mysql://address=(host=h)(port=3306)(user=u)(password=p)/db', true],
  ['jdbc:mysql://(host=h,port=3306,user=u,password=p)/db', true],
  ['jdbc:mysql://address=(host=h)(password1 = p)/db', true],
  ['jdbc:sqlserver://h;databaseName=x;password={p}', true],
  ['jdbc:postgresql://h/d?user=u&password=p', true],
  ['https://u:p@host/people.csv', true],
  ['<#Db> d2rq:password "p" .', true],
  ['jdbc:oracle:thin:@//host:1521/service', false],
  ['jdbc:oracle:thin:u@//host:1521/service', false],
  ['jdbc:mysql://address=(host=h)(port=3306)(user=u)/db', false],
  ['SELECT a FROM t WHERE password_set = 1', false],
  ['https://host/people.csv', false],
])('%s: %s', (text, hasPassword) => {
  const check = (): void => assertNoPassword('people.csv', text);
  if (hasPassword) expect(check).toThrow(/with a password/);
  else expect(check).not.toThrow();
});
