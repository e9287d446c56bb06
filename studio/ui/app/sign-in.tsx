import { type ReactNode, useState } from 'react';
import { openService, saidOf, troubleOf } from '../../client/service.ts';
import { keepToken } from '../../client/token.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { WORDS } from './words.ts';

const { signIn } = WORDS;

/** Asks for a token and tries it. */
export function SignIn({ onSigned }: { readonly onSigned: () => void }): ReactNode {
  const [token, setToken] = useState('');
  const [error, setError] = useState<string | undefined>(undefined);
  const tryIt = async (): Promise<void> => {
    if (token.trim() === '') return setError(signIn.missing);
    keepToken(token.trim());
    try {
      await openService().studio.me();
      onSigned();
    } catch (reason) {
      keepToken(undefined);
      const trouble = troubleOf(reason);
      setError(trouble?.kind === 'sign-in' ? signIn.wrong : trouble === undefined ? '' : saidOf(trouble));
    }
  };
  return (
    <form
      className="sign-in"
      aria-label={signIn.title}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void tryIt();
      }}
    >
      <p>{signIn.sentence}</p>
      <Field
        label={signIn.token}
        type="password"
        hint={signIn.hint}
        error={error}
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <Button kind="primary" submits>
        {signIn.button}
      </Button>
    </form>
  );
}
