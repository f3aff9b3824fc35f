import { expect, test } from 'vitest';
import { campaignsRun, campaignTimeoutMs, runCampaign } from '../support/run-campaign.ts';

test.runIf(campaignsRun)(
  '100 random faults on Redis, and nothing that must hold is broken',
  { timeout: campaignTimeoutMs },
  async () => {
    const said = await runCampaign('chaos', ['--store', 'redis', '--faults', '100', '--seed', '2']);
    expect(said).toContain('100 faults: no violation');
  },
);

test.runIf(campaignsRun)(
  'programs that are killed four times on Redis end as if nothing had been',
  { timeout: campaignTimeoutMs },
  async () => {
    const words = ['--store', 'redis', '--kills', '4', '--seed', '2', '--at-once', '2'];
    expect(await runCampaign('kills', words)).toContain('4 kills: no violation');
  },
);
