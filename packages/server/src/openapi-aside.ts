import {
  Audit,
  ChangeSettings,
  ChangeWorktree,
  DoctorReport,
  ForkSession,
  GraphDocument,
  Insight,
  PolicyTried,
  ProgramTests,
  PutGraph,
  Session,
  SessionAgent,
  SettingsAccepted,
  TryPolicy,
  Worktree,
} from '@concerto/protocol';

/** By their names in the document. */
export const asideSchemas = {
  Audit,
  ChangeSettings,
  ChangeWorktree,
  DoctorReport,
  ForkSession,
  GraphDocument,
  Insight,
  PolicyTried,
  ProgramTests,
  PutGraph,
  SessionAgent,
  SettingsAccepted,
  TryPolicy,
  Worktree,
} as const;

/** What is asked about sessions beside their work. */
export const asideOperations = {
  'post /api/sessions/{id}/fork': {
    role: 'agent',
    summary: 'A new session with what was said in it, up to an event',
    body: ForkSession,
    status: 201,
    answer: Session,
  },
  'get /api/sessions/{id}/agent': {
    role: 'observer',
    summary: 'What its agent offers: models, modes, efforts, slash commands; and what may be set',
    answer: SessionAgent,
  },
  'post /api/sessions/{id}/settings': {
    role: 'member',
    summary: 'Switch the model, the mode or the effort',
    body: ChangeSettings,
    status: 202,
    answer: SettingsAccepted,
  },
  'post /api/sessions/{id}/worktree': {
    role: 'member',
    summary: 'Merge the checkout of its own, or take it away',
    body: ChangeWorktree,
    answer: Worktree,
  },
  'get /api/insight': {
    role: 'observer',
    summary:
      'What all sessions did in the last `days`, day by day, by agent and by model; `offset` is your clock’s, in minutes',
    answer: Insight,
    query: ['days', 'offset'],
  },
  'post /api/programs/{name}/test': {
    role: 'member',
    summary: 'Run its tests; what they do not mock is neither started nor called',
    answer: ProgramTests,
  },
  'post /api/policies/try': {
    role: 'member',
    summary: 'What rules, or a supervisor, would have said to what was asked in past sessions; nothing comes of it',
    body: TryPolicy,
    answer: PolicyTried,
  },
  'get /api/graph': { role: 'observer', summary: 'The graph of the project', answer: GraphDocument },
  'put /api/graph': {
    role: 'member',
    summary: 'Replace the graph, if it is still at that version; `GET /api/events` tells the others',
    body: PutGraph,
    answer: GraphDocument,
  },
  'post /api/doctor': {
    role: 'owner',
    summary: 'Start each agent, ask it nothing, and say what is wrong with it and with the rest of the manifest',
    answer: DoctorReport,
  },
  'get /api/sessions/{id}/audit': {
    role: 'observer',
    summary: 'Both directions, or one message’s history',
    answer: Audit,
    query: ['message', 'after', 'limit'],
  },
} as const;
