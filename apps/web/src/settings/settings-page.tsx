import type { ReactNode } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { usePageTitle } from '../shell/use-page-title.ts';
import { AgentSettings } from './agent-settings.tsx';
import { PoolSettings } from './pool-settings.tsx';
import { RuleSettings } from './rule-settings.tsx';
import { TemplateSettings } from './template-settings.tsx';
import { TokenSettings } from './token-settings.tsx';

/** What this server is set up with; what only its owner may change is read by everybody. */
export function SettingsPage(): ReactNode {
  const { value: me, error } = useFetched((signal) => client.me({ signal }), { key: 'me' });
  usePageTitle('Settings');
  const isOwner = me?.role === 'owner';
  return (
    <main className="plain-page settings" tabIndex={-1}>
      <h1>Settings</h1>
      {error !== undefined && <p className="inline-problem">{failureOf(error).text}</p>}
      {me !== undefined && (
        <p className="muted">
          Signed in as <strong>{me.name}</strong> (role: {me.role}).
          {!isOwner && ' Only an owner can change these settings.'}
        </p>
      )}
      <AgentSettings mayChange={isOwner} />
      <PoolSettings mayChange={isOwner} />
      <RuleSettings mayChange={isOwner} />
      <TemplateSettings mayChange={isOwner} />
      {isOwner && <TokenSettings />}
    </main>
  );
}
