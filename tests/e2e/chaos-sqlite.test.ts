import { campaignsOn } from '../support/campaigns-on.ts';

campaignsOn('sqlite', 1);
