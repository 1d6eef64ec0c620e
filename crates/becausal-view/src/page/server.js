// Asking the server.
const Server = (() => {
  'use strict';

  async function read(response) {
    const value = await response.json();
    // What the page asks for and cannot have is an error in words, not one of the connection.
    if (value.error || !response.ok) throw new Error(value.error?.message ?? `the server says ${response.status}`);
    return value;
  }

  const get = async (path) => read(await fetch(path));

  const send = (path, body) =>
    fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

  const post = async (path, body) => read(await send(path, body));

  async function bytes(path, body) {
    const response = await send(path, body);
    if (response.headers.get('Content-Type') === 'application/json') await read(response);
    return response.blob();
  }

  // Asks one question at a time. While one is on its way only the newest of the others is kept, so an answer is never
  // shown after a newer one.
  function newest(path, done, failed) {
    let busy = false;
    let waiting;
    async function next(body) {
      busy = true;
      try {
        const value = await post(path, body);
        done(value, body, waiting !== undefined);
      } catch (error) {
        if (waiting === undefined) failed(error, body);
      }
      busy = false;
      if (waiting !== undefined) {
        const body = waiting;
        waiting = undefined;
        next(body);
      }
    }
    return (body) => {
      if (busy) waiting = body;
      else next(body);
    };
  }

  return { get, post, bytes, newest };
})();
