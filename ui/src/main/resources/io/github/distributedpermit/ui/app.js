'use strict';
// The live page. Everything that comes from the server is written as text, never as markup.
(() => {
  const script = document.currentScript;
  const ui = script.dataset.ui;
  const api = script.dataset.permits;
  const demo = script.dataset.calls;
  const $ = id => document.getElementById(id);
  const PALETTE = 8, SEATS = 240, DOTS = 400, ROWS = 100, WINDOW = 120000;
  const STATES = { lost: 'runs without its permit', holding: 'holds', waiting: 'waits' };
  const letters = new Map();
  const NOT_WRITABLE = ' This page may not change it: see management.endpoint.permits.access.';
  const SILENT = 6000; // longer than a look into a store that does not answer
  const known = new Map(), gone = new Map();
  let wanted = null, answeredAt = 0, asked = 0, blind = false, looked = '';
  let samples = [], turns = 0, again = 0, key = null, name = null, detail = null, writable = false, drift = 0, failures = 0;

  function el(tag, cls, text) {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  }
  // letters by order of appearance, so that an instance keeps its letter and colour
  function mark(member) {
    if (!letters.has(member)) letters.set(member, letters.size);
    const n = letters.get(member);
    return { cls: 'c' + n % PALETTE, letter: n < 26 ? String.fromCharCode(65 + n) : String(n) };
  }
  function span(ms) {
    if (ms === null || ms === undefined || Number.isNaN(ms)) return '–';
    const s = Math.max(0, ms) / 1000;
    if (s < 10) return s.toFixed(1) + ' s';
    if (s < 120) return Math.round(s) + ' s';
    if (s < 7200) return Math.round(s / 60) + ' min';
    return Math.round(s / 3600) + ' h';
  }
  const age = instant => instant ? Date.now() + drift - Date.parse(instant) : null;
  const plural = (n, one, more) => n + ' ' + (n === 1 ? one : more);

  function select(box, values, chosen) {
    const known = Array.from(box.options, o => o.value);
    if (known.length !== values.length || known.some((v, i) => v !== values[i])) {
      box.replaceChildren(...values.map(v => { const o = el('option', '', v); o.value = v; return o; }));
    }
    if (chosen !== null && box.value !== chosen) box.value = chosen;
  }

  // What is not known now is shown as it was, greyed, with its age: nothing that is unknown looks like a number.
  function stale(text, since) {
    const silent = text !== null;
    document.body.classList.toggle('stale', silent);
    $('stale').hidden = !silent;
    $('stale').textContent = silent ? text + (since ? ' What is shown is ' + span(Date.now() - since) + ' old.' : ' Nothing is known yet.') : '';
  }

  function draw() {
    if (!detail) { empty(); return; }
    const fresh = detail.keys.find(x => x.key === key) || detail.keys[0];
    $('problem').hidden = !detail.hint;
    $('problem').textContent = detail.hint || '';
    if (!fresh) { empty(); stale(null); return; }
    let k = fresh;
    if (fresh.problem) {
      const before = known.get(fresh.key);
      stale('The store ' + [detail.store.backend, detail.store.address].filter(Boolean).join(' at ') + ' does not answer: ' + fresh.problem + '.', before && before.at);
      $('live').textContent = 'the store does not answer'; $('live').className = 'live off';
      if (!before) { unknown(fresh); return; }
      k = { ...before.state, calls: fresh.calls, callsTruncated: fresh.callsTruncated };
    } else {
      stale(null);
      if (wanted && wanted.key === fresh.key && wanted.name === name) {
        $('done').textContent = 'The limit of ' + fresh.key + ' in force is ' + fresh.limit + (fresh.limitSource === 'override' ? ', set by an operator.' : '.');
        wanted = null;
      }
    }
    const queue = k.members.filter(m => m.queuePosition);
    const self = k.calls.filter(c => c.state === 'waiting');
    const waits = queue.map(m => age(m.waitingSince)).concat(self.map(c => age(c.since))).filter(x => x !== null);
    const longest = waits.length ? Math.max(...waits) : 0;
    // some stores do not record since when the calls of other instances wait
    blind = queue.some(m => !m.self && m.waiting > 0 && !m.waitingSince);
    const waiting = k.waiting;
    const all = k.members.length;

    $('where').textContent = 'answered by ' + detail.instance.name + (detail.within ? ', lies within ' + detail.within : '');
    $('n-use').textContent = k.inUse + ' / ' + k.limit;
    $('n-queue').textContent = waiting;
    $('n-wait').textContent = blind ? (waits.length ? '≥ ' + span(longest) : 'unknown') : waiting || waits.length ? span(longest) : '–';
    $('n-members').textContent = all + (k.membersTruncated ? '+' : '');

    const seats = [];
    for (const m of k.members) for (let i = 0; i < m.holding && seats.length <= SEATS; i++) seats.push(m);
    const boxes = [];
    const shown = Math.min(SEATS, Math.max(k.limit, seats.length));
    for (let i = 0; i < shown; i++) {
      const m = seats[i];
      if (m) {
        const c = mark(m.member);
        const box = el('span', 'seat ' + c.cls + (i >= k.limit ? ' over' : ''), c.letter);
        box.title = m.name || m.member;
        boxes.push(box);
      } else boxes.push(el('span', 'seat free'));
    }
    const rest = Math.max(k.limit, k.inUse) - shown;
    if (rest > 0) boxes.push(el('span', 'more', '+' + rest));
    $('seats').className = 'seats' + (shown > 60 ? ' many' : '');
    $('seats').replaceChildren(...boxes);
    $('seats-text').textContent = k.limit === 0 ? 'Paused: the limit is 0. ' + plural(k.inUse, 'permit is', 'permits are') + ' still in use.'
      : k.inUse > k.limit ? plural(k.inUse, 'permit is', 'permits are') + ' in use, ' + (k.inUse - k.limit) + ' more than the limit of ' + k.limit + ', until their calls end.'
      : plural(k.inUse, 'permit', 'permits') + ' of ' + k.limit + ' in use. A letter is an instance.';
    $('limits-text').textContent = (gone.has(k.key) ? 'The limit ' + gone.get(k.key) + ' that an operator had set was lifted, or lost with the data of the store. ' : '')
      + (!k.statedLimits ? '' : 'Instances state the limits ' + k.statedLimits.join(', ') + '. '
      + (k.limitSource === 'override' ? 'The limit of the operator applies instead.' : 'Each gets permits up to its own.'));

    const dots = [];
    let hidden = 0;
    for (const m of queue) for (let i = 0; i < m.waiting; i++) {
      if (dots.length < DOTS) {
        const c = mark(m.member);
        const dot = el('span', 'dot ' + c.cls, c.letter);
        dot.title = m.name || m.member;
        dots.push(dot);
      } else hidden++;
    }
    if (hidden) dots.push(el('span', 'more', '+' + hidden));
    $('queue').replaceChildren(...dots);
    $('queue-text').textContent = waiting === 0 ? 'No call waits.'
      : plural(waiting, 'call', 'calls') + ' of ' + plural(queue.length, 'instance', 'instances') + (waiting === 1 ? ' waits' : ' wait') + ', in the order in which the instances are served.';

    const rows = k.members.slice(0, ROWS).map(m => {
      const tr = el('tr'), c = mark(m.member), who = el('div', 'who'), names = el('div', '', m.name || m.member);
      names.append(el('small', '', (m.self ? 'this instance, ' : '') + 'limit ' + m.statedLimit));
      who.append(el('span', 'badge ' + c.cls, c.letter), names);
      const first = el('td'); first.append(who);
      const last = el('td', 'num');
      if (writable && m.holding > 0) {
        const b = el('button', 'small', 'Take permits');
        b.type = 'button';
        b.dataset.member = m.member;
        b.dataset.of = m.name || m.member;
        b.setAttribute('aria-label', 'Take the permits of ' + (m.name || m.member));
        last.append(b);
      }
      tr.append(first, el('td', 'num', m.holding), el('td', 'num', m.waiting), el('td', '', m.queuePosition ? '#' + m.queuePosition : '–'),
        el('td', 'num', m.waitingSince ? span(age(m.waitingSince)) : '–'), el('td', 'num', m.leaseLeftMillis == null ? '–' : span(m.leaseLeftMillis)), last);
      return tr;
    });
    fill($('members'), rows, 7, 'No instance holds or waits.');

    drawCalls(k);
    idleKey(false);
    $('limit-text').textContent = (fresh.problem ? 'The last known limit is ' : 'The limit in force is ') + k.limit + ', from ' + ({ override: 'an operator', annotation: 'the annotation', settings: 'the settings' })[k.limitSource]
      + '.' + terms(k.override) + (writable ? '' : NOT_WRITABLE);
    for (const e of $('limit-form').elements) e.disabled = !writable;
    if (writable) $('lift').disabled = k.limitSource !== 'override' && !fresh.problem;
    if (document.activeElement !== $('limit') && $('limit').dataset.of !== k.key + k.limit) {
      $('limit').value = k.limit; $('limit').dataset.of = k.key + k.limit;
    }
    if (!fresh.problem) samples.push({ at: Date.now(), longest: waits.length ? longest : 0, waiting });
    samples = samples.filter(s => s.at > Date.now() - WINDOW);
    plot();
  }

  // who has set the limit, when, why and until when
  function terms(o) {
    return !o ? '' : ' Set' + (o.by ? ' ' + o.by : '') + (o.since ? ' ' + span(age(o.since)) + ' ago' : '')
      + (o.until ? ', ends in ' + span(-age(o.until)) : ', until it is lifted') + (o.reason ? ': ' + o.reason : '') + '.';
  }

  function drawEvents(events) {
    fill($('events'), events.slice(0, ROWS).map(e => {
      const tr = el('tr');
      tr.append(el('td', 'num', span(age(e.at))), el('td', '', e.key || 'all'), el('td', '', e.text + (e.count > 1 ? ' ×' + e.count : '')));
      return tr;
    }), 3, 'This instance has seen none since its start.');
  }

  function drawCalls(k) {
    const lost = k.calls.filter(c => c.state === 'lost');
    $('lost').hidden = !lost.length;
    $('lost').textContent = plural(lost.length, 'call', 'calls') + ' of this instance ' + (lost.length === 1 ? 'runs' : 'run')
      + ' without a permit: it was lost' + (lost.length ? ' up to ' + span(age(lost[0].since)) + ' ago' : '') + ', and other calls may have it.';
    const calls = k.calls.slice(0, ROWS).map(c => {
      const tr = el('tr');
      tr.append(el('td', c.state === 'lost' ? 'bad' : '', STATES[c.state] + (c.permits > 1 ? ' ×' + c.permits : '')), el('td', 'num', span(age(c.since))), el('td', 'code', c.method || '–'),
        el('td', 'code', c.thread || '–'), el('td', 'code', c.traceId || '–'));
      return tr;
    });
    fill($('calls'), calls, 5, 'No call of this instance holds or waits.');
    $('calls-more').textContent = k.calls.length > ROWS || k.callsTruncated ? 'Only the first ' + calls.length + ' calls are shown.' : '';

  }

  // the store has not answered about this key yet: only what the instance itself knows is shown
  function unknown(k) {
    dashes();
    drawCalls(k);
    $('seats-text').textContent = $('queue-text').textContent = $('limit-text').textContent = 'Unknown: the store does not answer.';
    fill($('members'), [], 7, 'Unknown: the store does not answer.');
  }

  function dashes() {
    for (const id of ['n-use', 'n-queue', 'n-wait', 'n-members']) $(id).textContent = '–';
    for (const id of ['seats', 'queue']) $(id).replaceChildren();
  }

  function empty() {
    $('lost').hidden = true;
    dashes();
    $('limits-text').textContent = '';
    $('seats-text').textContent = detail === null ? '' : 'No key of this permit is known to this instance. Others may use keys: look one up.';
    idleKey(detail !== null);
    $('limit-text').textContent = detail === null ? '' : 'Without a key in use, name the key whose limit to change.' + (writable ? '' : NOT_WRITABLE);
    for (const e of $('limit-form').elements) e.disabled = !writable || detail === null;
    $('queue-text').textContent = '';
    fill($('members'), [], 7, 'No key is shown.');
    fill($('calls'), [], 5, 'No call of this instance holds or waits.');
  }

  // the key of a change while none is in use; most permits have one key, with the name of the permit
  function idleKey(wanted) {
    if (wanted && $('idle-key').dataset.of !== name) { $('idle-key').value = name; $('idle-key').dataset.of = name; }
    $('idle-key').hidden = $('idle-key-label').hidden = !wanted;
    $('idle-key').required = wanted;
  }

  // keeps the focus of a button in a row that is drawn again
  function fill(body, rows, columns, nothing) {
    const focused = body.contains(document.activeElement) ? document.activeElement.dataset.member : undefined;
    if (!rows.length) { const tr = el('tr'), td = el('td', 'empty', nothing); td.colSpan = columns; tr.append(td); rows = [tr]; }
    body.replaceChildren(...rows);
    if (focused !== undefined) body.querySelectorAll('button').forEach(b => { if (b.dataset.member === focused) b.focus(); });
  }

  function plot() {
    const svg = $('plot'), now = Date.now(), top = Math.max(1000, ...samples.map(s => s.longest)) * 1.15;
    const x = s => 600 - (now - s.at) / WINDOW * 600, y = s => 156 - s.longest / top * 150;
    const shape = (tag, cls, attrs) => {
      const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
      e.setAttribute('class', cls);
      for (const a in attrs) e.setAttribute(a, attrs[a]);
      return e;
    };
    const line = samples.map(s => x(s).toFixed(1) + ' ' + y(s).toFixed(1)).join(' L ');
    const parts = [6, 56, 106, 156].map(h => shape('line', 'grid', { x1: 0, x2: 600, y1: h, y2: h }));
    if (samples.length > 1) {
      parts.push(shape('path', 'area', { d: 'M ' + x(samples[0]).toFixed(1) + ' 156 L ' + line + ' L 600 156 Z' }));
      parts.push(shape('path', 'curve', { d: 'M ' + line }));
    }
    svg.replaceChildren(...parts);
    $('plot-text').textContent = 'Longest wait' + (blind ? ' of this instance (unknown of the others)' : '') + (document.body.classList.contains('stale') ? ', last known ' : ', now ') + span(samples.length ? samples[samples.length - 1].longest : 0) + '; the top line is ' + span(top / 1.15 * 1.15 * 150 / 156) + '.';
  }

  function state(s) {
    drift = Date.parse(s.now) - Date.now();
    writable = s.writable;
    detail = s.permit || null;
    failures = 0;
    answeredAt = Date.now();
    for (const k of detail ? detail.keys : []) if (!k.problem) {
      const before = known.get(k.key);
      if (k.limitSource === 'override') gone.delete(k.key);
      else if (before && before.state.limitSource === 'override') gone.set(k.key, before.state.limit);
      known.set(k.key, { state: k, at: answeredAt });
    }
    $('live').textContent = 'live'; $('live').className = 'live on';
    select($('name'), s.names, name);
    drawEvents(s.events);
    const keys = detail ? detail.keys.map(k => k.key) : [];
    if (key !== null && !keys.includes(key)) key = null;
    if (key === null && keys.length) key = keys[0];
    select($('key'), keys, key);
    draw();
  }

  // the instance itself has not answered for a while, though its requests may still be open
  function silent() {
    if (!name || Date.now() - Math.max(answeredAt, asked) < SILENT && !failures) return;
    $('live').textContent = failures > 1 ? 'no connection, trying again' : 'no answer';
    $('live').className = 'live off';
    stale('The instance' + (detail ? ' ' + detail.instance.name : '') + ' does not answer.', answeredAt);
  }

  function follow(next) {
    answeredAt = 0; failures = 0; asked = Date.now(); known.clear(); gone.clear(); stale(null);
    looked = $('look').value = '';
    name = next; key = null; samples = []; detail = null;
    // until the first answer about this permit, nothing that names a key of the one before is shown or can be sent
    select($('key'), [], null);
    for (const id of ['idle-key', 'limit']) { $(id).value = ''; delete $(id).dataset.of; }
    $('problem').hidden = true;
    empty();
    plot();
    ask();
  }
  // a question follows the answer to the one before, so that a slow instance is not asked twice
  async function ask() {
    clearTimeout(again);
    const turn = ++turns;
    let pause = 1000;
    try {
      const r = await fetch(ui + '/states/' + encodeURIComponent(name) + (looked ? '?key=' + encodeURIComponent(looked) : ''),
        { headers: { Accept: 'application/json' }, credentials: 'same-origin', cache: 'no-store', signal: AbortSignal.timeout(15000) });
      if (!r.ok) throw new Error('status ' + r.status);
      const s = await r.json();
      if (turn === turns) state(s);
    } catch (e) {
      if (turn !== turns) return;
      failures++;
      pause = 3000;
      silent();
    }
    if (turn === turns) again = setTimeout(ask, pause); // otherwise another permit was chosen meanwhile
  }

  function token() {
    const found = /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(document.cookie);
    return found ? { 'X-XSRF-TOKEN': decodeURIComponent(found[1]) } : {};
  }
  async function change(method, body, done) {
    const of = key !== null ? key : $('idle-key').hidden ? '' : $('idle-key').value;
    if (!of) { $('done').textContent = 'Not changed: no key is named.'; return; }
    $('done').textContent = 'sending';
    let url = api + '/' + encodeURIComponent(name);
    const reason = $('reason').value.trim(), lasts = $('lasts').value.trim();
    if (method === 'DELETE') url += '?key=' + encodeURIComponent(of) + (reason ? '&reason=' + encodeURIComponent(reason) : '');
    try {
      const r = await fetch(url, { method, credentials: 'same-origin', headers: { 'Content-Type': 'application/json', ...token() }, body: body && JSON.stringify({ key: of, ...body, ...(reason && { reason }), ...(lasts && !body.evict && { lasts }) }) });
      const answer = await r.json().catch(() => ({}));
      if (answer.outcome === 'unknown' && !(body && body.evict)) wanted = { name, key: of };
      $('done').textContent = r.ok ? done(of, answer) : answer.outcome === 'unknown' ? answer.message + '.' : 'Not changed: ' + (answer.message || answer.error || 'status ' + r.status);
    } catch (e) {
      if (!(body && body.evict)) wanted = { name, key: of };
      $('done').textContent = 'It is unknown whether ' + of + ' was changed: the instance did not answer.';
    }
  }

  $('name').addEventListener('change', () => follow($('name').value));
  $('key').addEventListener('change', () => { key = $('key').value; samples = []; draw(); });
  $('look-form').addEventListener('submit', e => {
    e.preventDefault();
    looked = $('look').value.trim();
    key = looked || null; samples = [];
    ask();
  });
  $('limit-form').addEventListener('submit', e => {
    e.preventDefault();
    // a key that nothing uses may be a typing error: only one that was named on purpose is created
    const create = key === null && $('idle-key').value !== name && confirm('No instance is known to use the key ' + $('idle-key').value + ' of ' + name + '. Set its limit all the same?');
    change('POST', { limit: Number($('limit').value), ...(create && { create }) }, (of, a) => 'The limit of ' + of + ' is ' + a.override + ' for all instances.');
  });
  $('pause').addEventListener('click', () => confirm('Pause ' + (key !== null ? key : $('idle-key').value) + ' of ' + name + ' for all instances? Running calls go on, no other call gets a permit.') && change('POST', { limit: 0 }, of => 'Paused ' + of + ': no call gets a permit until the limit is set or lifted.'));
  $('lift').addEventListener('click', () => change('DELETE', null, of => 'The limit of the operator for ' + of + ' is lifted.'));
  $('members').addEventListener('click', e => {
    const b = e.target.closest('button');
    if (b && confirm('Take the permits of ' + key + ' from ' + b.dataset.of + '? Its running calls lose their permits but may go on, so that more than the limit may run.')) {
      change('POST', { evict: b.dataset.member }, (of, a) => plural(a.evicted, 'permit of ' + of + ' was', 'permits of ' + of + ' were') + ' taken.');
    }
  });

  // only in the sample application: sends calls from this browser
  if (demo) {
    const buttons = Array.from(document.querySelectorAll('[data-send]'));
    for (const b of buttons) b.addEventListener('click', async () => {
      const count = Number(b.dataset.send);
      const sent = await Promise.all(Array.from({ length: count }, () =>
        fetch(demo, { method: 'POST', credentials: 'same-origin' }).then(r => r.ok, () => false)));
      $('sent').textContent = sent.filter(Boolean).length + ' of ' + count + ' calls were answered with a report.';
    });
  }

  setInterval(silent, 1000);
  fetch(ui + '/names', { headers: { Accept: 'application/json' }, credentials: 'same-origin' }).then(r => r.json()).then(s => {
    select($('name'), s.names, null);
    const wanted = new URLSearchParams(location.search).get('name');
    if (s.names.length) { const first = s.names.includes(wanted) ? wanted : s.names[0]; select($('name'), s.names, first); follow(first); }
    else { $('live').textContent = 'no permits'; empty(); }
  }).catch(() => { $('live').textContent = 'no connection'; $('live').className = 'live off'; });
})();
