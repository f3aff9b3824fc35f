import { expect, test } from 'vitest';
import { campaignsRun, campaignTimeoutMs, runCampaign } from '../support/run-campaign.ts';

test.runIf(campaignsRun)(
  '100 random faults on SQLite, and nothing that must hold is broken',
  { timeout: campaignTimeoutMs },
  async () => {
    const said = await runCampaign('chaos', ['--store', 'sqlite', '--faults', '100', '--seed', '1']);
    expect(said).toContain('100 faults: no violation');
  },
);

test.runIf(campaignsRun)(
  'programs that are killed four times on SQLite end as if nothing had been',
  { timeout: campaignTimeoutMs },
  async () => {
    const words = ['--store', 'sqlite', '--kills', '4', '--seed', '1', '--at-once', '2'];
    expect(await runCampaign('kills', words)).toContain('4 kills: no violation');
  },
);
