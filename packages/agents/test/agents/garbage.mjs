// Typed messages with garbage between them.
const say = (text) => process.stdout.write(text);
say('{"type":"progress","message":"a"}\n');
say('{"type":\n\0\x01\x02 ]]]\n[1,2]\n{"type":7}\nnull\n');
say(Buffer.from([0x7b, 0xff, 0xfe, 0x0a]));
say(Buffer.concat([Buffer.from('{"type":"log","message":"'), Buffer.from([0xc3]), Buffer.from('"}\n')]));
say('{"type":"question"}\n');
say('{"type":"result","text":"still here"}\n');
