package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.Limit;
import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.NameCounts;
import io.github.distributedpermit.core.key.PermitName;
import io.github.distributedpermit.core.key.Policy;
import io.github.distributedpermit.core.member.KeySurvey;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitProperty;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The permits of this application by name: merges the settings over what annotations and code declare, refuses
 * declarations that contradict each other, and applies changed settings. Thread-safe; definitions and changes are rare,
 * look-ups take no lock.
 */
final class Catalog implements PermitCatalog {

    private final int highestLimit;
    private final Observers observers;
    private final Supplier<Optional<KeySurvey>> survey;
    private final Runnable applied;
    private final Runnable localUsed;
    private final ConcurrentMap<String, PermitName> byName = new ConcurrentHashMap<>();
    private final DynamicNames dynamic = new DynamicNames();
    private final Map<String, NameCounts> byPattern = new HashMap<>();
    private final Declarations declarations = new Declarations();

    /** The names that the observer has not been notified of yet: that follows outside of the lock. */
    private final Queue<NameCounts> unannounced = new ConcurrentLinkedQueue<>();

    private final List<Consumer<UnaryOperator<PermitDefinition>>> checks = new CopyOnWriteArrayList<>();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile Rules rules;

    /**
     * @param highestLimit the highest limit of the store
     * @param survey that of the present membership, if there is one
     * @param applied called after the policies of names have changed, without a lock
     * @param localUsed called when a name needs this instance's share of its limit during an outage
     */
    Catalog(
            Rules rules,
            int highestLimit,
            Observers observers,
            Supplier<Optional<KeySurvey>> survey,
            Runnable applied,
            Runnable localUsed) {
        this.rules = rules;
        this.highestLimit = highestLimit;
        this.observers = observers;
        this.survey = survey;
        this.applied = applied;
        this.localUsed = localUsed;
    }

    /** The permit of this name, from a declaration or from the settings alone. */
    PermitName permit(String name) {
        if (name == null) {
            throw new IllegalArgumentException("The name of a permit must not be null");
        }
        PermitName known = known(name);
        if (known != null) {
            return known;
        }
        PermitName created = create(name);
        announce();
        return created;
    }

    /** The permit of this name if it has been made and has a limit. */
    private @Nullable PermitName known(String name) {
        PermitName declared = byName.get(name);
        return declared != null ? declared : dynamic.get(name);
    }

    private synchronized PermitName create(String name) {
        Rules present = rules;
        PermitName known = known(name);
        if (known != null) {
            return known;
        }
        if (present.has(name)) {
            return put(present.ofSettings(name), present);
        }
        String pattern = present.patternOf(name);
        if (pattern != null && !name.isBlank()) {
            PermitDefinition effective = present.ofSettings(name);
            Policy policy = policy(effective, present);
            PermitName kept = dynamic.kept(name);
            if (kept != null) {
                // queues and calls that are still in use know this one
                kept.change(effective, policy);
                kept.letCallsWait(present.ofWritten(name).block());
                dynamic.limited(name, true);
                return kept;
            }
            PermitName permit = new PermitName(effective, policy, counts(pattern, policy));
            permit.letCallsWait(present.ofWritten(name).block());
            dynamic.put(permit);
            return permit;
        }
        String similar = present.sameRelaxed(name);
        throw new IllegalArgumentException("No limit for a permit named '%s'; %sset %s"
                .formatted(
                        LogSafe.escape(name),
                        similar == null
                                ? ""
                                : ("the settings of '%s' apply to this spelling only if an annotation or PermitCatalog.define"
                                                + " declares it; do that, or ")
                                        .formatted(similar),
                        PermitProperty.of(name, "limit")));
    }

    /** All names of a pattern have the same meters, since their number is not known. */
    private NameCounts counts(String pattern, Policy policy) {
        NameCounts known = byPattern.get(pattern);
        if (known == null) {
            known = new NameCounts(pattern, policy.limit());
            byPattern.put(pattern, known);
            unannounced.add(known);
        }
        return known;
    }

    /** Notifies the observer of new names. The caller holds no lock, because the observer is code of the application. */
    private void announce() {
        for (NameCounts each = unannounced.poll(); each != null; each = unannounced.poll()) {
            NameGauges gauges = new NameGauges(each, survey);
            observers.each(observer -> observer.named(gauges));
        }
    }

    @Override
    public PermitDefinition define(PermitDefinition declared) {
        PermitDefinition effective = add(declared);
        announce();
        return effective;
    }

    private synchronized PermitDefinition add(PermitDefinition declared) {
        Rules present = rules;
        PermitDefinition effective = present.effective(declared);
        declarations.check(declared, present);
        boolean first = !declarations.contain(declared.name());
        declarations.add(declared);
        if (first || declared.within() != null) {
            put(present.effective(declarations.of(declared.name())), present);
        }
        return effective;
    }

    /** Keeps the name until the application ends, with this definition. Queues and calls may know it already. */
    private PermitName put(PermitDefinition effective, Rules source) {
        String name = effective.name();
        Policy policy = policy(effective, source);
        PermitName known = byName.get(name);
        PermitName kept = known != null ? known : dynamic.kept(name);
        PermitName permit = kept != null ? kept : new PermitName(effective, policy);
        permit.letCallsWait(settings(name, source).block());
        if (kept != null) {
            kept.change(effective, policy);
            dynamic.remove(name);
        } else {
            unannounced.add(permit.counts);
        }
        byName.put(name, permit);
        return permit;
    }

    /** What is set for the name: only the settings of names that the code declares match in the relaxed form. */
    private PermitSettings settings(String name, Rules source) {
        return declarations.contain(name) ? source.ofDeclared(name) : source.ofWritten(name);
    }

    /** What this process knows of a name alone, also if its meters are those of a pattern; empty if it was not declared and no call has used it. */
    Optional<PermitGauges> gauges(String name) {
        PermitName permit = known(name);
        return permit == null ? Optional.empty() : Optional.of(new NameGauges(permit.ownCounts, survey));
    }

    /** The name for the observer. */
    String observedName(String name) {
        PermitName permit = known(name);
        return permit == null ? name : permit.observedName();
    }

    /** Whether the limit of a name is that of its settings, and not that of its declaration. */
    synchronized boolean isLimitFromSettings(String name) {
        return settings(name, rules).limit() != null;
    }

    private Policy policy(PermitDefinition definition, Rules source) {
        if (definition.onStoreFailure() == OnStoreFailure.LOCAL && !definition.isUnlimited()) {
            localUsed.run();
        }
        return source.policy(definition, settings(definition.name(), source));
    }

    /**
     * Applies other settings to all names, or to none if they are not possible.
     *
     * @throws IllegalArgumentException if they are not
     */
    void changeSettings(PermitSettings defaults, Map<String, PermitSettings> named) {
        apply(present -> present.withSettings(defaults, named));
    }

    @Override
    public void changeLimits(Map<String, @Nullable Integer> limits) {
        limits.forEach((name, limit) -> {
            Objects.requireNonNull(name, "name");
            if (limit != null && !Limit.of(limit).isPossible()) {
                throw new IllegalArgumentException("Limit %d of permit '%s' is not between 1 and %d"
                        .formatted(limit, LogSafe.escape(name), PermitDefinition.MAX_LIMIT));
            }
        });
        apply(present -> present.withLimits(limits));
    }

    private void apply(Function<Rules, Rules> change) {
        synchronized (this) {
            Rules next = change.apply(rules);
            checkHighest(next);
            checkWithin(next);
            declarations.checkAll(next);
            Map<PermitName, PermitDefinition> changed = new IdentityHashMap<>();
            byName.forEach((name, permit) -> changed.put(
                    permit,
                    declarations.contain(name) ? next.effective(declarations.of(name)) : next.ofSettings(name)));
            List<PermitName> kept = dynamic.allKept();
            for (PermitName permit : kept) {
                if (next.ofWritten(permit.name()).limit() != null) {
                    changed.put(permit, next.ofSettings(permit.name()));
                }
            }
            checks.forEach(check -> check.accept(next::effective));
            byPattern.forEach((pattern, counts) -> {
                Limit before = rules.ofWritten(pattern).limit();
                Limit after = next.ofWritten(pattern).limit();
                if (before != null && after != null) {
                    counts.changeLimit(before.permits(), after.permits());
                }
            });
            rules = next;
            changed.forEach((permit, definition) -> {
                permit.change(definition, policy(definition, next));
                permit.letCallsWait(settings(permit.name(), next).block());
            });
            // without a limit, the next look-up of the name is refused, if there is one
            kept.forEach(permit -> dynamic.limited(permit.name(), changed.containsKey(permit)));
        }
        applied.run();
        listeners.forEach(Runnable::run);
    }

    private void checkHighest(Rules next) {
        next.settings().forEach((name, settings) -> {
            Limit limit = settings.limit();
            if (limit != null && limit.permits() != PermitDefinition.UNLIMITED && limit.permits() > highestLimit) {
                throw new IllegalArgumentException(
                        "Permit '%s' has limit %d, but a key in this store has at most %d permits"
                                .formatted(LogSafe.escape(name), limit.permits(), highestLimit));
            }
        });
    }

    /** Two calls that take the same permits in different orders may wait for each other. */
    private void checkWithin(Rules next) {
        Map<String, PermitSettings> before = rules.settings();
        Map<String, PermitSettings> after = next.settings();
        Set<String> all = new HashSet<>(before.keySet());
        all.addAll(after.keySet());
        for (String name : all) {
            if (!Objects.equals(within(before, name), within(after, name))) {
                throw new IllegalArgumentException(
                        "%s cannot change while the application runs, because calls take their permits in an order that depends on it; restart the application for it"
                                .formatted(PermitProperty.of(name, "within")));
            }
        }
    }

    private static @Nullable String within(Map<String, PermitSettings> settings, String name) {
        PermitSettings found = settings.get(name);
        return found == null ? null : found.within();
    }

    /** Runs this, once no change of settings is half applied. */
    synchronized boolean settled(BooleanSupplier look) {
        return look.getAsBoolean();
    }

    /** Calls this before each change, under the lock; what it throws refuses the change. Until what this returns has been run. */
    Runnable beforeChange(Consumer<UnaryOperator<PermitDefinition>> check) {
        checks.add(check);
        return () -> checks.remove(check);
    }

    /** Calls this after each change, without a lock, until what it returns has been run. */
    Runnable onChange(Runnable listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    @Override
    public Optional<PermitDefinition> find(String name) {
        PermitName known = known(name);
        if (known != null) {
            return Optional.of(known.definition());
        }
        if (name.isBlank()) {
            return Optional.empty();
        }
        Optional<PermitDefinition> found = findInSettings(name);
        announce();
        return found;
    }

    private synchronized Optional<PermitDefinition> findInSettings(String name) {
        Rules present = rules;
        if (present.ofWritten(name).limit() == null) {
            return Optional.empty();
        }
        if (SettingsByName.isPattern(name)) {
            // no call uses the pattern as a name, but the names that match it have this definition
            return Optional.of(present.ofSettings(name));
        }
        return Optional.of(create(name).definition());
    }

    @Override
    public Collection<PermitDefinition> definitions() {
        Rules present = rules;
        Stream<PermitDefinition> unused = unusedSettings().stream()
                .filter(name -> present.ofWritten(name).limit() != null)
                .map(present::ofSettings);
        Stream<PermitDefinition> used = Stream.of(byName.values(), dynamic.all())
                .flatMap(Collection::stream)
                .map(PermitName::definition);
        return Stream.concat(used, unused).toList();
    }

    /** The names that have settings, but no declaration and no call so far. */
    synchronized List<String> unusedSettings() {
        return rules.without(byName.keySet(), declarations.names());
    }

    /** What this process knows of each name. */
    Collection<PermitGauges> gauges() {
        Stream<NameCounts> all = Stream.of(byName.values(), dynamic.all())
                .flatMap(Collection::stream)
                .map(permit -> permit.counts)
                .distinct();
        return all.<PermitGauges>map(counts -> new NameGauges(counts, survey)).toList();
    }

    /** The names that are declared, or that a call has used. */
    Set<String> names() {
        return Set.copyOf(byName.keySet());
    }
}
