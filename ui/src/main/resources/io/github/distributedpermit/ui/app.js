'use strict';
// The live page. Everything that comes from the server is written as text, never as markup.
(() => {
  const data = document.currentScript.dataset, ui = data.ui, api = data.permits, demo = data.calls;
  const $ = id => document.getElementById(id);
  const COLOURS = 8, LETTERS = 26, BOXES = 240, DOTS = 400, ROWS = 100;
  const SILENT = 6000; // longer than a look into a store that does not answer
  const WAIT = 15000;
  const SLOW = 500, LONG = 5000;
  const STATES = { lost: 'runs without its permit', holding: 'holds', waiting: 'waits' };
  const SOURCES = { pause: 'a pause of all calls', override: 'an operator', annotation: 'the annotation', settings: 'the settings' };
  const FREE = 'This permit has no limit: its calls do not ask the store, so each instance knows its own only.';
  const isFree = k => k.limitSource === 'none';
  const known = new Map(), gone = new Map(), marks = new Map(), names = new Map(), leases = new Map();
  // what the address selects: all permits, one of them, one of its keys, one instance
  let name = null, key = null, member = null, filter = '', from = 0;
  // what is shown: the last answer, the key in it, and when it came
  let state = null, shown = null, paused = null, answeredAt = 0, asked = 0, drift = 0, failures = 0, refusal = null, turns = 0, again = 0, wanted = null;

  function el(tag, cls, ...content) {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    e.append(...content.map(c => c instanceof Node ? c : String(c)));
    return e;
  }
  const text = (id, value) => { if ($(id).textContent !== value) $(id).textContent = value; };
  const show = (id, visible) => { $(id).hidden = !visible; };
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

  // A letter and a colour from the name of the instance, so that they are the same on all pages and after a restart. Where two
  // instances would have the same, the second has the next one.
  function mark(m) {
    const of = m.name || m.member;
    if (!marks.has(of)) {
      let hash = 7;
      for (const c of of) hash = Math.imul(hash, 31) + c.codePointAt(0) >>> 0;
      hash %= COLOURS * LETTERS;
      const taken = new Set(marks.values());
      while (taken.has(hash) && taken.size < COLOURS * LETTERS) hash = (hash + COLOURS + 1) % (COLOURS * LETTERS);
      marks.set(of, hash);
    }
    const n = marks.get(of);
    return { cls: 'c' + n % COLOURS, letter: String.fromCharCode(65 + Math.floor(n / COLOURS)) };
  }

  // the address of a selection
  function to(n, k, m) {
    const q = new URLSearchParams();
    if (n === null) q.set('all', '');
    for (const [a, v] of [['name', n], ['key', k], ['instance', m]]) if (v !== null && v !== undefined) q.set(a, v);
    if (n === null && filter) q.set('filter', filter);
    if (n === null && from) q.set('from', from);
    return '?' + q;
  }
  function link(label, n, k, m) {
    const a = el('a', '', label);
    a.href = to(n, k, m);
    a.dataset.go = '';
    return a;
  }
  function outside(label, template, values) {
    if (!/^(https?:\/\/|\/)/.test(template)) return null;
    const a = el('a', '', label);
    a.href = template.replace(/\{(\w+)\}/g, (all, v) => v in values ? encodeURIComponent(values[v]) : all);
    a.rel = 'noreferrer';
    return a;
  }

  // What is not known now is shown as it was, greyed, with its age: nothing that is unknown looks like a number.
  function stale(why, since) {
    document.body.classList.toggle('stale', why !== null);
    show('stale', why !== null);
    text('stale', why === null ? '' : why + (since ? ' What is shown is ' + span(Date.now() - since) + ' old.' : ' Nothing is known yet.'));
  }
  const live = (what, cls) => { text('live', what); $('live').className = 'live ' + cls; };
  const silentStore = (store, problem, since) => {
    stale('The store ' + [store.backend, store.address].filter(Boolean).join(' at ') + ' does not answer: ' + problem + '.', since);
    live('the store does not answer', 'off');
  };

  // one row; the titles of the columns are repeated in it for narrow screens. A cell that is not a list is text
  function row(table, cells) {
    const titles = Array.from($(table).closest('table').querySelectorAll('th'));
    const tr = el('tr');
    cells.forEach((c, i) => {
      const td = el('td', titles[i].className, ...(Array.isArray(c) ? c.filter(x => x !== null) : [c]));
      td.dataset.title = titles[i].textContent;
      tr.append(td);
    });
    return tr;
  }
  // keeps the focus of what is drawn again
  function fill(id, rows, nothing) {
    const body = $(id), active = document.activeElement, at = body.contains(active) ? active.dataset.id : undefined;
    if (!rows.length) { const td = el('td', 'empty', nothing); td.colSpan = 9; rows = [el('tr', '', td)]; }
    body.replaceChildren(...rows);
    if (at !== undefined) body.querySelectorAll('[data-id]').forEach(b => { if (b.dataset.id === at) b.focus(); });
  }
  function button(label, id, of) {
    const b = el('button', 'small', label);
    b.type = 'button';
    b.dataset.id = id;
    b.setAttribute('aria-label', label + ' of ' + of);
    return b;
  }
  function bar(inUse, limit) {
    const meter = el('progress', inUse >= limit ? 'full' : '');
    meter.max = Math.max(1, limit);
    meter.value = Math.min(inUse, Math.max(1, limit));
    meter.setAttribute('aria-label', inUse + ' of ' + limit + ' in use');
    return el('span', 'use', meter, inUse + ' / ' + limit);
  }
  // a hold that is many times the usual one
  const isLong = (since, average) => average !== undefined && age(since) >= LONG && age(since) >= 10 * average;
  const held = p => isLong(p.holdingSince, p.averageHoldMillis) ? [el('b', 'bad', span(age(p.holdingSince))), el('small', '', ' usually ' + span(p.averageHoldMillis))] : span(age(p.holdingSince));
  // how long ago the last one was shows whether an incident goes on
  const lately = (n, at, cls) => [n && cls ? el('b', cls, n) : n ?? 'unknown', at ? el('small', '', ' ' + span(age(at)) + ' ago') : null];
  const chips = words => [el('span', 'chips', ...words.map(([w, cls]) => el('span', 'chip ' + (cls || ''), w)))];

  function drawPath() {
    const parts = [link('All permits', null)];
    if (name !== null) parts.push(link(name, name));
    if (name !== null && shown && shown.key !== name) parts.push(link(shown.key, name, shown.key));
    if (member !== null) parts.push(el('span', '', title(member)));
    parts[parts.length - 1].setAttribute('aria-current', 'page');
    const now = document.activeElement && $('path').contains(document.activeElement) ? document.activeElement.textContent : null;
    $('path').replaceChildren(...parts);
    parts.forEach(p => { if (p.textContent === now) p.focus(); });
    document.title = [member !== null ? title(member) : null, shown ? shown.key : name, 'Permits'].filter(Boolean).join(' – ');
  }
  const title = id => names.get(id) || id; // also of one that is not alive any more

  // all permits
  function drawList() {
    const { permits, problem, all, from: first, truncated } = state.list;
    const unread = Boolean(problem) && permits.some(p => p.limitSource === undefined);
    if (unread) {
      const before = known.get('\n' + filter + from);
      silentStore(state.store, problem, before && before.at);
      const here = new Map(permits.map(p => [p.name, p])); // what this instance knows itself is shown as it is now
      if (before) return drawRows(before.state.list.permits.map(p => ({ ...(here.get(p.name) || p), fleet: p.fleet, limitSource: p.limitSource, overrides: p.overrides, paused: p.paused })), true);
    } else {
      stale(null);
      known.set('\n' + filter + from, { state, at: answeredAt });
    }
    from = first;
    text('list-text', 'The fullest first. Use and waiting calls are those of all instances, as far as the store has them; the longest hold, rejected and failed calls are those of this instance.'
      + (truncated ? ' Of more than ' + all + ' permits these are shown: a part of the name finds others.' : ''));
    text('range', all ? first + 1 + '–' + (first + permits.length) + ' of ' + all : '');
    $('previous').disabled = !first;
    $('next').disabled = first + permits.length >= all;
    drawRows(permits, unread);
  }
  function drawRows(permits, silent) {
    const app = state.list.application, all = new Map(permits.flatMap(p => p.paused || []).map(p => [p.what, p]));
    drawPause(app ? "application '" + app + "'" : null, [...all.values()], silent);
    fill('list', permits.map(p => {
      const f = p.fleet, words = [], overrides = Object.values(p.overrides || {});
      if (p.paused || overrides.some(o => o.limit === 0)) words.push(['paused', 'strong']);
      if (overrides.some(o => o.limit > 0)) words.push(['limit set', 'mild']);
      if (f && f.fullestLimit > 0 && f.fullestInUse >= f.fullestLimit) words.push(['full', f.waiting ? 'strong' : 'mild']);
      if (f && f.limitsDiffer) words.push(['limits differ', 'mild']);
      if (!p.paused && (p.rejectedLately || (f ? f.waiting : p.waiting)) && age(p.holdingAllSince) >= LONG) words.push(['all here hold for ≥ ' + span(age(p.holdingAllSince)), (f ? f.waiting : p.waiting) ? 'strong' : 'mild']);
      if (p.runningLost) words.push([plural(p.runningLost, 'call', 'calls') + ' here without permit', 'strong']);
      const to = link(p.name, p.name);
      to.dataset.id = p.name;
      const use = f ? [bar(f.fullestInUse, f.fullestLimit), f.keys > 1 ? el('small', '', ' fullest of ' + f.keys + ' keys') : null]
        : [isFree(p) ? 'no limit' + (p.holding ? ', ' + p.holding + ' in use here' : '') : 'unknown'];
      const wait = f && f.waitingSince ? (f.waitingSinceUnknown ? '≥ ' : '') + span(age(f.waitingSince)) : f && f.waitingSinceUnknown ? 'unknown' : '–';
      // calls that a pause holds back ask the store for nothing
      return row('list', [[to], use, f && !p.paused ? f.waiting : p.waiting + ' here', wait, p.holdingSince ? held(p) : '–', lately(p.rejectedLately, p.rejectedAt), lately(p.failedLately, p.failedAt, 'bad'), chips(words)]);
    }), filter ? 'No permit has such a name.' : 'There are no permits.');
  }

  // one permit: its only key, or the one that is selected, or all of its keys
  function drawPermit() {
    const d = state.permit;
    show('list-section', false);
    if (!d) { problem('No permit is named ' + name + '.'); for (const id of ['keys-section', 'key-view', 'pause-section', 'history-section', 'calls-section']) show(id, false); stale(null); return; }
    if (d.problem) d.paused = paused; else paused = d.paused; // what is not known now is shown as it was
    where(d, d.within ? ['lies within ' + d.within] : []);
    for (const k of d.keys) if (!k.problem) {
      const before = known.get(k.key);
      // a pause may lie over the limit of the operator
      if (k.override) gone.delete(k.key);
      else if (before && before.state.override) gone.set(k.key, before.state.override.limit);
      known.set(k.key, { state: k, at: answeredAt });
    }
    // the limit of a key that is not in use yet can be set too; most permits have one key, with the name of the permit
    const idle = { key: key === null ? name : key, members: [], calls: [], idle: true };
    const fresh = key !== null ? d.keys.find(k => k.key === key) || idle : d.keys.length === 1 ? d.keys[0] : d.keys.length ? null : idle;
    problem([drained(d.instance), grace(d.store), d.hint, fresh && !fresh.problem ? silences(fresh.members) : ''].filter(Boolean).join(' '));
    show('keys-section', key === null);
    drawPause("permit '" + d.name + "'", d.paused || [], Boolean(d.problem), d.keys.map(k => k.problem && known.has(k.key) ? known.get(k.key).state : k).filter(k => k.override && k.override.limit === 0).map(k => k.key));
    show('key-view', fresh !== null);
    show('calls-section', fresh !== null);
    show('history-section', Boolean(d.history)); // it is not kept of too many names
    drawKeys(d);
    if (d.history) drawHistory(d);
    if (!fresh) {
      shown = null;
      const silent = d.keys.find(k => k.problem);
      if (silent) silentStore(d.store, silent.problem, answeredAt); else stale(null);
      return;
    }
    drawKey(d, fresh);
  }
  function problem(why) { show('problem', why !== ''); text('problem', why); }

  // An instance renews what it has in each third of its lease, so one that has not for longer is stuck, or does not reach the store. Its
  // lease is at least as long as the most that was seen to be left of it.
  function silence(m) {
    const most = Math.max(leases.get(m.member) || 0, m.leaseLeftMillis || 0), silent = most - m.leaseLeftMillis;
    leases.set(m.member, most);
    return silent > most / 3 + 1000 ? silent : 0;
  }
  const silences = members => members.map(m => [m, silence(m)]).filter(([, silent]) => silent)
    .map(([m, silent]) => (m.name || m.member) + ' has sent no claim' + (m.key ? ' for ' + m.key : '') + ' for at least ' + span(silent) + ': it is dead, hangs, or does not reach the store.').slice(0, 5).join(' ');

  function drawKeys(d) {
    text('keys-text', d.keys.length ? 'Those that calls of this instance use. The field shows any other one.' : 'No key of this permit is known to this instance. Others may use keys: look one up.');
    fill('keys', d.keys.map(k => {
      const to = link(k.key, name, k.key);
      to.dataset.id = k.key;
      return row('keys', [[to], k.problem ? ['unknown'] : [isFree(k) ? 'no limit' : bar(k.inUse, k.limit)], k.problem ? 'unknown' : k.waiting,
        chips(k.problem ? [] : k.limit === 0 ? [['paused', 'strong']] : [...(k.override ? [['limit set', 'mild']] : []), ...(k.inUse >= k.limit ? [['full', k.waiting ? 'strong' : 'mild']] : [])])]);
    }), 'None.');
  }

  function drawKey(d, fresh) {
    let k = fresh, before = null;
    if (fresh.problem) {
      before = known.get(fresh.key);
      silentStore(d.store, fresh.problem, before && before.at);
      k = before ? { ...before.state, calls: fresh.calls, callsTruncated: fresh.callsTruncated, holdingAllSince: fresh.holdingAllSince } : fresh;
    } else {
      stale(null);
      if (wanted && wanted.key === fresh.key && wanted.name === name && !fresh.idle) {
        text('done', 'The limit of ' + fresh.key + ' in force is ' + fresh.limit + (fresh.limitSource === 'override' ? ', set by an operator.' : '.'));
        wanted = null;
      }
    }
    shown = k;
    for (const m of k.members) if (m.name) names.set(m.member, m.name);
    const unknown = Boolean(fresh.problem && !before);
    const one = member === null ? null : k.members.find(m => m.member === member);
    show('fleet', member === null);
    drawCalls(k, d.instance.member);
    drawNumbers(k, unknown);
    drawMembers(k, unknown, one, d.instance);
    drawLimit(k, fresh, unknown);
  }

  function drawNumbers(k, unknown) {
    show('paused', k.limit === 0);
    if (k.limit === 0) text('paused-text', 'No call gets a permit of ' + k.key + '.' + (pauses(state.permit.paused || []) || terms(k.override)) + (k.inUse ? ' ' + plural(k.inUse, 'permit is', 'permits are') + ' still in use.' : ''));
    if (unknown || k.idle || isFree(k)) {
      for (const id of ['n-use', 'n-queue', 'n-wait', 'n-members']) text(id, '–');
      for (const id of ['boxes', 'queue']) $(id).replaceChildren();
      if (isFree(k)) text('n-use', state.permit.holding + ' here');
      text('use-text', isFree(k) ? FREE : unknown ? 'Unknown: the store does not answer.' : 'No call of this instance has used this key.');
      text('queue-text', isFree(k) ? 'No call waits.' : unknown ? 'Unknown: the store does not answer.' : 'No call of this instance waits for this key.');
      text('limits-text', '');
      text('hold-text', '');
      drawOthers(k, false);
      return;
    }
    const queue = k.members.filter(m => m.queuePosition);
    const waits = queue.map(m => age(m.waitingSince)).concat(k.calls.filter(c => c.state === 'waiting').map(c => age(c.since))).filter(x => x !== null);
    const longest = waits.length ? Math.max(...waits) : 0;
    // some stores do not record since when the calls of other instances wait
    const blind = queue.some(m => !m.self && m.waiting > 0 && !m.waitingSince);
    text('n-use', k.inUse + ' / ' + k.limit);
    text('n-queue', String(k.waiting));
    text('n-wait', blind ? (waits.length ? '≥ ' + span(longest) : 'unknown') : waits.length ? span(longest) : '–');
    text('n-members', k.members.length + (k.membersTruncated ? '+' : ''));

    const holders = [], boxes = [];
    for (const m of k.members) for (let i = 0; i < m.holding && holders.length <= BOXES; i++) holders.push(m);
    const count = Math.min(BOXES, Math.max(k.limit, holders.length));
    for (let i = 0; i < count; i++) {
      const m = holders[i];
      if (!m) { boxes.push(el('span', 'box free')); continue; }
      const c = mark(m), box = el('span', 'box ' + c.cls + (i >= k.limit ? ' over' : ''), c.letter);
      box.title = m.name || m.member;
      boxes.push(box);
    }
    const rest = Math.max(k.limit, k.inUse) - count;
    if (rest > 0) boxes.push(el('span', 'more', '+' + rest));
    $('boxes').className = 'boxes' + (count > 60 ? ' many' : '');
    $('boxes').replaceChildren(...boxes);
    text('use-text', k.limit === 0 ? 'Paused: the limit is 0. ' + plural(k.inUse, 'permit is', 'permits are') + ' still in use.'
      : k.inUse > k.limit ? plural(k.inUse, 'permit is', 'permits are') + ' in use, ' + (k.inUse - k.limit) + ' more than the limit of ' + k.limit + ', until their calls end.'
      : plural(k.inUse, 'permit', 'permits') + ' of ' + k.limit + ' in use. A letter is an instance.');
    const all = k.calls.filter(c => c.state === 'holding').length; // they come before those that wait
    text('hold-text', age(k.holdingAllSince) < LONG ? '' : 'None of the ' + (k.callsTruncated && !k.calls.some(c => c.state === 'waiting') ? 'calls' : plural(all, 'call', 'calls')) + ' of this instance that hold permits has ended for ' + span(age(k.holdingAllSince)) + '.'
      + (isLong(k.holdingAllSince, state.permit.averageHoldMillis) ? ' Calls that have ended held theirs for ' + span(state.permit.averageHoldMillis) + ' on average.' : ''));
    drawOthers(k, age(k.holdingAllSince) >= LONG || longest >= LONG);
    text('limits-text', (gone.has(k.key) ? 'The limit ' + gone.get(k.key) + ' that an operator had set was lifted, or lost with the data of the store. ' : '')
      + (!k.statedLimits ? '' : 'Instances state different limits: ' + Object.entries(k.statedLimits).map(([limit, n]) => limit + ' by ' + plural(n, 'instance', 'instances')).join(', ') + '. '
      + (k.limitSource === 'override' ? 'The limit of the operator applies instead.' : 'Each gets permits up to its own.')));

    const dots = [];
    for (const m of queue) for (let i = 0; i < m.waiting && dots.length < DOTS; i++) {
      const c = mark(m), dot = el('span', 'dot ' + c.cls, c.letter);
      dot.title = m.name || m.member;
      dots.push(dot);
    }
    if (k.waiting > dots.length) dots.push(el('span', 'more', '+' + (k.waiting - dots.length)));
    $('queue').replaceChildren(...dots);
    text('queue-text', state.permit.paused ? plural(k.waiting, 'call of this instance waits', 'calls of this instance wait') + ' until the pause ends; those of others are not known here.'
      : k.waiting === 0 ? 'No call waits.'
      : plural(k.waiting, 'call', 'calls') + ' of ' + (queue.length ? plural(queue.length, 'instance', 'instances') : 'this instance') + (k.waiting === 1 ? ' waits' : ' wait') + ', in the order in which the instances are served.');
  }

  // How long a call of another instance holds is known to that instance alone: where to ask, as soon as calls hold or wait for long
  function drawOthers(k, long) {
    const others = long ? k.members.filter(m => !m.self && m.holding) : [], most = others.slice(0, 5);
    const parts = !others.length ? [] : ['How long calls of other instances have held theirs is known to them alone: ',
      ...most.flatMap((m, i) => [i ? ', ' : '', pageOf('page of ' + (m.name || m.member), m) || 'ask ' + (m.name || m.member)]), others.length > most.length ? ', and ' + (others.length - most.length) + ' more.' : '.'];
    // what has not changed keeps the focus
    if ($('others-hold').textContent !== parts.map(p => p.textContent ?? p).join('')) $('others-hold').replaceChildren(...parts);
  }
  function pageOf(label, m) {
    const host = /@([^:@]+)/.exec(m.name || '');
    return outside(label, state.settings.instanceLink, { instance: m.name || m.member, host: host ? host[1] : '' });
  }

  function drawMembers(k, unknown, one, self) {
    const members = member === null ? k.members.slice(0, ROWS) : one ? [one] : [];
    fill('members', members.map(m => {
      const c = mark(m), label = m.name || m.member, names = el('div', '', link(label, name, k.key, m.member));
      names.firstChild.dataset.id = 'to ' + m.member;
      names.append(el('small', '', (m.self ? 'this instance, ' : '') + 'limit ' + m.statedLimit));
      return row('members', [[el('div', 'who', el('span', 'badge ' + c.cls, c.letter), names)], m.holding, m.waiting, m.queuePosition ? '#' + m.queuePosition : '–',
        m.waitingSince ? span(age(m.waitingSince)) : m.waiting && !m.self ? 'unknown' : '–', m.leaseLeftMillis == null ? '–' : span(m.leaseLeftMillis),
        state.settings.writable && m.holding > 0 ? [button('Take permits', m.member, label)] : '–']);
    }), isFree(k) ? FREE : unknown ? 'Unknown: the store does not answer.' : member !== null ? 'This instance neither holds permits of ' + k.key + ' nor waits for them.'
      : k.idle ? 'No instance is known to use this key.' : state.permit.paused ? 'No instance holds permits.' : 'No instance holds or waits.');
    const other = one && !one.self;
    show('drain', member === self.member && state.settings.writable && !self.draining);
    show('member-text', member !== null);
    $('member-text').replaceChildren(...(!other ? [] : ['Its calls, with method and thread, are known to that instance alone. ',
      pageOf('Its page', one) || '', ' Member ' + one.member + '.']));
  }

  function drawLimit(k, fresh, unknown) {
    const writable = state.settings.writable;
    text('limit-text', isFree(k) ? 'None can be set here: set one in the settings first.' : (unknown || k.idle ? 'The limit in force is unknown.' : (fresh.problem ? 'The last known limit is ' : 'The limit in force is ') + k.limit + ', from ' + SOURCES[k.limitSource] + '.' + (k.limitSource === 'override' ? terms(k.override) : ''))
      + (k.idle ? ' A change is for the key ' + k.key + '.' : '') + (writable ? '' : ' This page may not change it: see management.endpoint.permits.access.'));
    for (const e of $('limit-form').elements) e.disabled = !writable || isFree(k);
    if (writable && !isFree(k)) {
      $('lift').disabled = !k.override && !fresh.problem && !k.idle;
      $('end').disabled = !k.override;
    }
    const field = $('limit'), now = String(k.limit);
    if (field.dataset.key !== k.key) { field.value = field.dataset.of = ''; field.dataset.key = k.key; }
    // what an operator has begun to write stays, whatever others set meanwhile
    if (k.limit !== undefined && (field.value === now || field.value === field.dataset.of && document.activeElement !== field)) {
      field.value = field.dataset.of = now;
    }
  }

  // who has set the limit, when, why and until when
  function terms(o) {
    return !o ? '' : ' Set' + (o.by ? ' ' + o.by : '') + (o.since ? ' ' + span(age(o.since)) + ' ago' : '')
      + (o.until ? ', ends in ' + span(-age(o.until)) : ', until it is lifted') + (o.reason ? ': ' + o.reason : '') + '.';
  }

  const pauses = paused => paused.map(p => ' All calls of ' + p.what + ' are paused.' + terms(p)).join('');
  // the pause of the permit that is shown, or of the application
  function drawPause(what, paused, silent, zero = []) {
    const writable = state.settings.writable;
    show('pause-section', what !== null);
    if (what === null) return;
    text('pause-title', 'Pause of ' + what);
    text('pauses', pauses(paused).trim() || (zero.length ? 'Paused by a limit of the key ' + zero.slice(0, 5).join(', ') + ', not by a pause of all calls: use Lift at the limit of the key.' : silent ? 'Unknown: the store does not answer.' : 'No pause is known to this instance.'));
    for (const e of $('pause-form').elements) e.disabled = !writable;
    show('resume-all', paused.length > 0 || !zero.length); // it would not lift the limit of a key
    $('pause-form').dataset.what = what;
  }

  function drawCalls(k, self) {
    const lost = k.calls.filter(c => c.state === 'lost'), writable = state.settings.writable;
    show('lost', lost.length > 0);
    text('lost', lost.length ? plural(lost.length, 'call', 'calls') + ' of this instance ' + (lost.length === 1 ? 'runs' : 'run')
      + ' without a permit: it was lost up to ' + span(age(lost[0].since)) + ' ago, and other calls may have it.' : '');
    show('calls-section', member === null || member === self);
    fill('calls', k.calls.slice(0, ROWS).map(c => {
      const what = (c.method || 'the call') + ' on ' + (c.thread || 'its thread');
      const trace = c.traceId && outside(c.traceId, state.settings.traceLink, { traceId: c.traceId });
      const own = c.onThread === true; // otherwise what the thread does now may be another call
      const changes = [own ? button('Stack', 's' + c.call, what) : null, c.state === 'holding' && writable && c.call ? button('Take', 't' + c.call, what) : null];
      const tr = row('calls', [STATES[c.state] + (c.permits > 1 ? ' ×' + c.permits : ''), span(age(c.since)), c.method || '–',
        c.thread ? [c.thread, own ? null : el('small', '', c.onThread === false ? ' asynchronous: went on' : ' may have gone on')] : '–',
        trace ? [trace] : c.traceId || '–', changes.some(b => b) ? changes : '–']);
      if (c.state === 'lost') tr.firstChild.className = 'bad';
      return tr;
    }), isFree(k) ? FREE : 'No call of this instance holds or waits.');
    text('calls-more', k.calls.length > ROWS || k.callsTruncated ? 'Only the first ' + Math.min(ROWS, k.calls.length) + ' calls are shown.' : '');
  }

  function drawEvents() {
    show('events-section', true);
    fill('events', state.events.filter(e => name === null || !e.key || !shown || e.key === shown.key).slice(0, ROWS)
      .map(e => row('events', [span(age(e.at)), e.key || 'all', e.text + (e.kind === 'loss' && e.count > 1 ? ' ×' + e.count : '')])), 'This instance has seen none since its start.');
  }

  function drawHistory(d) {
    text('history-text', 'Calls of ' + d.instance.name + ' over all keys of ' + d.name + ': the most in each half minute, kept by that instance since its start.');
    for (const what of ['holding', 'waiting', 'rejected']) chart($('h-' + what), d.history[what], d.history.stepSeconds);
  }
  function chart(svg, values, step) {
    const W = 320, H = 120, L = 34, B = 18, most = Math.max(...values, 1), n = values.length;
    const shape = (tag, attrs, content) => {
      const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
      for (const a in attrs) e.setAttribute(a, attrs[a]);
      if (content !== undefined) e.textContent = content;
      return e;
    };
    const x = i => L + (W - L - 4) * i / n, y = v => H - B - (H - B - 10) * v / most, minutes = Math.round(n * step / 60);
    const parts = [];
    for (const v of most > 1 ? [0, Math.round(most / 2), most] : [0, most]) {
      parts.push(shape('line', { class: 'grid', x1: L, x2: W - 4, y1: y(v), y2: y(v) }), shape('text', { x: L - 5, y: y(v) + 4, 'text-anchor': 'end' }, v));
    }
    for (const [part, anchor] of [[0, 'start'], [.5, 'middle'], [1, 'end']]) {
      parts.push(shape('text', { x: x(n * part), y: H - 4, 'text-anchor': anchor }, part === 1 ? 'now' : minutes * (1 - part) + ' min ago'));
    }
    const line = values.map((v, i) => 'L' + x(i).toFixed(1) + ' ' + y(v).toFixed(1) + 'H' + x(i + 1).toFixed(1)).join('');
    parts.push(shape('path', { class: 'area', d: 'M' + x(0) + ' ' + y(0) + line + 'V' + y(0) + 'Z' }), shape('path', { class: 'curve', d: 'M' + line.slice(1) }));
    svg.setAttribute('viewBox', '0 0 ' + W + ' ' + H);
    svg.setAttribute('aria-label', 'Now ' + values[n - 1] + ', at most ' + Math.max(...values) + ' in the last ' + minutes + ' minutes');
    svg.replaceChildren(...parts);
  }

  // otherwise free permits for which calls wait would look like a fault
  const grace = store => !store.keysInGrace ? '' : 'The store may have lost its state: ' + plural(store.keysInGrace, 'key', 'keys')
    + ' of this instance ' + (store.keysInGrace === 1 ? 'gets' : 'get') + ' no new permits ' + (store.graceUntil ? 'for up to ' + span(-age(store.graceUntil)) + ' more' : 'for the lease of another instance')
    + ', so that calls which still hold some get them back first. Other keys follow as they are used.';

  const drained = i => i.draining ? 'This instance was drained: it takes no more permits until it is restarted, and rejects each call.' : '';

  // calls wait as long for a permit as this page for its answer
  function where(of, more) {
    const slow = of.store.slowMillis || (of.store.tookMillis >= SLOW ? of.store.tookMillis : 0);
    text('where', ['answered by ' + of.instance.name, ...more, ...(slow ? ['slow store: ' + span(slow) + ' for an answer, so that calls wait and permits are in use that much longer'] : [])].join(', '));
    $('where').classList.toggle('bad', slow > 0);
  }

  function draw() {
    if (name === null) {
      for (const id of ['keys-section', 'key-view', 'history-section', 'calls-section', 'lost']) show(id, false);
      problem([drained(state.instance), grace(state.store), silences(state.list.shortestLeases)].filter(Boolean).join(' '));
      show('list-section', true);
      shown = null;
      where(state, [[state.store.backend, state.store.address].filter(Boolean).join(' at ')]);
      drawList();
    } else drawPermit();
    drawEvents();
    drawPath();
  }

  // a limit of 0 is shown at the limit of its key; here are the pauses of all calls, of which the store is asked for nothing
  function ofAllCalls(p) {
    const all = p && p.paused && p.paused.filter(x => x.key === undefined);
    if (all) p.paused = all.length ? all : undefined;
  }
  function received(s) {
    (s.list ? s.list.permits : [s.permit]).forEach(ofAllCalls);
    drift = Date.parse(s.now) - Date.now();
    state = s;
    failures = 0;
    refusal = null;
    answeredAt = Date.now();
    live('live', 'on');
    draw();
    document.body.classList.remove('loading');
  }

  // the instance itself has not answered for a while, though its requests may still be open
  function silent() {
    if (Date.now() - Math.max(answeredAt, asked) < SILENT && !failures) return;
    live(refusal ? 'no data' : failures > 1 ? 'no connection, trying again' : 'no answer', 'off');
    const instance = state && (state.instance || state.permit && state.permit.instance);
    stale(refusal || 'The instance' + (instance ? ' ' + instance.name : '') + ' does not answer.', answeredAt);
  }

  // shows what the address selects
  function follow() {
    const q = new URLSearchParams(location.search), before = name;
    name = q.get('name') ?? (q.has('all') || !data.name ? null : data.name);
    key = q.get('key');
    member = q.get('instance');
    filter = q.get('filter') || '';
    from = Number(q.get('from')) || 0;
    $('filter').value = filter;
    if (before !== name) { known.clear(); gone.clear(); marks.clear(); leases.clear(); paused = null; }
    for (const id of ['limit', 'reason', 'lasts', 'look', 'pause-reason', 'pause-lasts']) $(id).value = '';
    delete $('limit').dataset.key;
    text('done', '');
    text('pause-done', '');
    text('others-text', '');
    $('others-list').replaceChildren();
    show('stack-view', false);
    // until the first answer about the selection nothing of the one before is shown or can be sent
    state = shown = refusal = null;
    answeredAt = failures = 0;
    asked = Date.now();
    stale(null);
    document.body.classList.add('loading');
    for (const e of document.querySelectorAll('#limit-form > *, #pause-form > *')) e.disabled = true;
    for (const id of ['members', 'calls', 'list', 'keys']) $(id).replaceChildren();
    ask();
  }
  function go(address) {
    history.pushState(null, '', address);
    follow();
    $('main').focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  // something has answered, but not with the state
  function refused(r, answer) {
    refusal = r.status === 401 || r.status === 403 || r.type === 'opaqueredirect' || r.ok ? 'This browser is not logged in, or may not see the permits: reload the page.'
      : 'Instead of the permits comes the answer: ' + (answer && (answer.message || answer.error) || 'status ' + r.status) + '.';
    failures++;
    silent();
  }
  const json = { headers: { Accept: 'application/json' }, credentials: 'same-origin', cache: 'no-store', redirect: 'manual' };
  // a question follows the answer to the one before, so that a slow instance is not asked twice
  async function ask() {
    clearTimeout(again);
    const turn = ++turns;
    let pause = name === null ? 2000 : 1000;
    try {
      const r = await fetch(name === null ? ui + '/list?filter=' + encodeURIComponent(filter) + '&from=' + from
        : ui + '/permit?name=' + encodeURIComponent(name) + (key !== null ? '&key=' + encodeURIComponent(key) : ''), { ...json, signal: AbortSignal.timeout(WAIT) });
      const s = await r.json().catch(() => null);
      if (turn !== turns) return;
      if (r.ok && s && s.settings) received(s);
      else refused(r, s);
    } catch (e) {
      if (turn !== turns) return;
      refusal = null;
      failures++;
      silent();
    }
    if (failures) pause = 3000;
    if (turn === turns) again = setTimeout(ask, pause); // otherwise something else was selected meanwhile
  }

  function token() {
    const found = /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(document.cookie);
    return found ? { 'X-XSRF-TOKEN': decodeURIComponent(found[1]) } : {};
  }
  // Tells a change of an instance. A login page or a proxy may answer in its place, so only an answer that confirms the change shows that
  // it was made, and only a refusal that it was not.
  async function send(method, url, body, what, made) {
    const unknown = why => ['It is unknown whether ' + what + ' was changed: ' + why + '.', true];
    try {
      const r = await fetch(url, { method, credentials: 'same-origin', redirect: 'manual', signal: AbortSignal.timeout(WAIT), headers: { 'Content-Type': 'application/json', ...token() }, body: body && JSON.stringify(body) });
      if (r.type === 'opaqueredirect') return ['Not changed: this browser is not logged in. Reload the page.', false];
      const answer = await r.json().catch(() => null) || {}, done = r.ok && made(answer);
      return done ? [done, false]
        : answer.outcome === 'unknown' ? [answer.message + '.', true]
        : r.status >= 400 && r.status < 500 && r.status !== 408 || r.status === 503 && answer.message ? ['Not changed: ' + (answer.message || answer.error || 'status ' + r.status), false]
        : unknown(r.ok ? 'something else than the instance has answered, such as a login. Reload the page' : 'status ' + r.status);
    } catch (e) {
      return unknown('the instance did not answer');
    }
  }
  async function change(method, body, done) {
    const of = shown.key, limits = !body || body.limit !== undefined || body.lasts, at = name;
    text('done', 'sending');
    let url = api; // names are in the query or the body: a path refuses some
    const reason = $('reason').value.trim(), lasts = $('lasts').value.trim();
    if (method === 'DELETE') url += '?name=' + encodeURIComponent(name) + '&key=' + encodeURIComponent(of) + (reason ? '&reason=' + encodeURIComponent(reason) : '');
    const [said, unknown] = await send(method, url, body && { name, key: of, ...body, ...(reason && { reason }), ...(lasts && limits && { lasts }) }, of, a => a.key === of && done(of, a));
    if (unknown && limits) wanted = { name: at, key: of };
    text('done', said);
  }
  const taken = (of, a) => a.evicted !== undefined && plural(a.evicted, 'permit of ' + of + ' was', 'permits of ' + of + ' were') + ' taken.';

  document.addEventListener('click', e => {
    const a = e.target.closest('a[data-go]');
    if (a && !e.ctrlKey && !e.metaKey && !e.shiftKey) { e.preventDefault(); go(a.getAttribute('href')); }
  });
  addEventListener('popstate', follow);
  $('filter-form').addEventListener('submit', e => e.preventDefault());
  $('filter').addEventListener('input', () => { filter = $('filter').value.trim(); turn(0); });
  function turn(at) { from = at; history.replaceState(null, '', to(null)); ask(); }
  $('previous').addEventListener('click', () => turn(Math.max(0, from - state.list.permits.length, from - 50)));
  $('next').addEventListener('click', () => turn(from + state.list.permits.length));
  $('look-form').addEventListener('submit', e => {
    e.preventDefault();
    if ($('look').value.trim()) go(to(name, $('look').value.trim()));
  });
  $('others').addEventListener('click', async () => {
    text('others-text', 'asking the store');
    const of = name, r = await fetch(api + '?name=' + encodeURIComponent(of) + '&others=1000', json).then(async x => [x.ok, await x.json().catch(() => ({}))], () => [false, {}]);
    if (of !== name) return;
    const found = r[0] && r[1].keys;
    text('others-text', !found ? 'Unknown: ' + (r[1].message || 'the instance did not answer') + '.'
      : (found.length ? 'Keys of the store, of whatever permit: the store does not record names.' : 'The store has no other keys.') + (r[1].truncated ? ' There are more than these.' : ''));
    $('others-list').replaceChildren(...(found || []).map(k => el('li', '', link(k, of, k))));
  });
  $('limit-form').addEventListener('submit', e => {
    e.preventDefault();
    if (!shown) return;
    // a key that nothing uses may be a typing error: only one that was named on purpose is created
    const limit = Number($('limit').value), create = !shown.members.length && shown.key !== name && !shown.override;
    if (create && !confirm('No instance is known to use the key ' + shown.key + ' of ' + name + '. Set its limit all the same?') || limit === 0 && !confirmsPause()) return;
    change('POST', { limit, ...(create && { create }) }, (of, a) => a.override === limit && 'The limit of ' + of + ' is ' + limit + ' for all instances.');
  });
  const confirmsPause = () => confirm('Pause ' + shown.key + ' of ' + name + ' for all instances? Running calls go on, no other call gets a permit.');
  $('pause').addEventListener('click', () => shown && confirmsPause()
    && change('POST', { limit: 0 }, (of, a) => a.override === 0 && 'Paused ' + of + ': no call gets a permit until the limit is set or lifted.'));
  $('end').addEventListener('click', () => {
    const lasts = $('lasts').value.trim();
    if (!lasts) { text('done', 'Write after what time the limit ends.'); $('lasts').focus(); return; }
    if (shown) change('POST', { lasts }, (of, a) => a.override !== undefined && 'The limit ' + a.override + ' of ' + of + ' has an end now; who set it, when and why stays.');
  });
  $('lift').addEventListener('click', () => shown && change('DELETE', null, of => 'The limit of the operator for ' + of + ' is lifted.'));
  $('members').addEventListener('click', e => {
    const b = e.target.closest('button');
    if (b && confirm('Take the permits of ' + shown.key + ' from ' + title(b.dataset.id) + '? Its running calls lose their permits but may go on, so that more than the limit may run.')) {
      change('POST', { evict: b.dataset.id }, taken);
    }
  });
  async function pause(paused) {
    const what = $('pause-form').dataset.what, reason = $('pause-reason').value.trim(), lasts = $('pause-lasts').value.trim();
    text('pause-done', 'sending');
    const [said] = await send('POST', api, { pause: paused, ...(name !== null && { name }), ...(reason && { reason }), ...(lasts && paused && { lasts }) }, what,
      a => a.paused === paused && (paused ? 'All calls of ' + what + ' are paused.' : 'The pause of ' + what + ' has ended.') + ' All instances have it after a third of the lease, five seconds at most.');
    text('pause-done', said);
  }
  $('pause-form').addEventListener('submit', e => {
    e.preventDefault();
    const what = $('pause-form').dataset.what;
    if (confirm('Pause all calls of ' + what + ' in all instances? ' + (name === null ? 'All permits of the application are paused, but for those without a limit. ' : 'All its keys are paused, also those that nothing uses yet, in all applications that use it. ')
      + 'Running calls go on. Calls that wait, and new ones, wait until the pause ends or their time-out has passed; those that do not wait are rejected.')) pause(true);
  });
  $('resume-all').addEventListener('click', () => confirm('End the pause of ' + $('pause-form').dataset.what + '? Its waiting calls get permits again, in all instances.') && pause(false));
  $('drain').addEventListener('click', async () => {
    if (!confirm('Drain ' + title(member) + '? It takes no more permits, of whatever name, until it is restarted: its waiting and new calls are rejected, its running calls go on.')) return;
    const reason = $('reason').value.trim();
    text('done', 'sending');
    const [said] = await send('POST', api, { drain: true, member, ...(reason && { reason }) }, 'this instance', a => a.draining === true && 'This instance takes no more permits.');
    text('done', said);
  });
  $('calls').addEventListener('click', e => {
    const b = e.target.closest('button');
    if (!b) return;
    const call = Number(b.dataset.id.slice(1)), what = b.getAttribute('aria-label').replace(/^\w+ of /, '');
    if (b.dataset.id[0] === 's') stack(call, what);
    else if (confirm('Take the permits of ' + shown.key + ' from ' + what + '? The call loses them but may go on, so that more than the limit may run.')) change('POST', { call }, taken);
  });
  async function stack(call, what) {
    const r = await fetch(api + '?name=' + encodeURIComponent(name) + '&key=' + encodeURIComponent(shown.key) + '&stack=' + call, json).then(x => x.json()).catch(() => ({}));
    const found = (r.keys || []).flatMap(k => k.calls).find(c => c.call === call);
    text('stack-title', 'Stack of ' + what);
    text('stack', !found ? 'The call has ended, or the instance does not answer.'
      : !found.stack ? 'Not shown: the thread is not known to be within the call any more.' : found.stack.length ? found.stack.join('\n') : 'The thread has ended.');
    show('stack-view', true);
    $('stack-title').focus();
  }

  // only in the sample application: its server sends the calls, because a browser has no more than six requests open
  if (demo) for (const b of document.querySelectorAll('[data-send]')) b.addEventListener('click', async () => {
    const sent = await fetch(demo + b.dataset.send, { method: 'POST', credentials: 'same-origin' }).then(r => r.json(), () => null);
    text('sent', sent === null ? 'The calls were not answered.' : sent + ' of ' + b.dataset.send + ' calls were answered with a report.');
  });

  setInterval(silent, 1000);
  follow();
})();
