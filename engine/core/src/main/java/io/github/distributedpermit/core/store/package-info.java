/**
 * What this process knows of its store: whether it answers, is silent, or is bypassed by calls that may run without it. It knows
 * neither keys nor calls; queues, probes and health checks report to it what their claims have shown.
 *
 * <table>
 *   <caption>Words for a store that does not answer, here and in the queues of keys</caption>
 *   <tr><th>word</th><th>of</th><th>from when</th><th>so</th></tr>
 *   <tr><td>silent</td><td>the member</td><td>nothing was answered for a command time-out</td><td>a call whose own time-out ends has met a failure of the store</td></tr>
 *   <tr><td>reported</td><td>the member</td><td>a claim has failed that was sent a second ago or more</td><td>it is logged, and probes are sent</td></tr>
 *   <tr><td>known</td><td>the outage of a key or of the member</td><td>a given time</td><td>calls of the key fail at once after a store time-out</td></tr>
 *   <tr><td>bypassed</td><td>the member</td><td>a store time-out</td><td>calls that may do so run without it</td></tr>
 *   <tr><td>failing</td><td>the claims of a key</td><td>its last claim failed</td><td>claims are sent one at a time, after pauses</td></tr>
 *   <tr><td>out of contact</td><td>a key in a store that may lose its state</td><td>as failing</td><td>no permit is returned</td></tr>
 *   <tr><td>gets no answers</td><td>a key</td><td>no answer was applied for a lease</td><td>only what is in use is claimed</td></tr>
 * </table>
 */
@NullMarked
package io.github.distributedpermit.core.store;

import org.jspecify.annotations.NullMarked;
