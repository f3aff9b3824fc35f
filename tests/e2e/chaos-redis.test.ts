import { campaignsOn } from '../support/campaigns-on.ts';

campaignsOn('redis', 2);
