package io.github.distributedpermit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits how many calls of the annotated method run at the same time across all instances that share the store.
 *
 * <p>On a type, all its public methods share one permit. The annotation is also found on interfaces, on overridden
 * methods and as a meta-annotation; the nearest place wins, a method before its type. The permit is taken outside of a
 * transaction or a cache on the same method.
 *
 * <p>Every call through a proxy takes permits, also a nested one of the same method or key, unless it is
 * {@link #reentrant()}. The advice of an inner proxy passes where a bean is advised twice. A method with several annotations
 * takes all of its permits or none: narrow ones first, see {@link Permits#acquireAll}.
 *
 * <p>Settings under {@code distributed-permit.permits.<name>.*} win over the attributes here. One of the two has to
 * give a limit, or the application does not start.
 *
 * <p>A call that gets no permit ends with {@link PermitRejectedException}; a store that fails ends it with
 * {@link PermitBackendException}. What the method itself throws reaches its caller unchanged. A caller interrupted
 * while waiting gets an {@link InterruptedException} if the method declares it, else a
 * {@link PermitInterruptedException} with the thread's flag set again.
 *
 * @see Permits the same for code that is not a method of a bean
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Repeatable(DistributedPermits.class)
public @interface DistributedPermit {

    /** The value of {@link #limit()} that means "not given here". */
    int UNSET = Integer.MIN_VALUE;

    /**
     * What is limited. Calls with equal keys share one limit. Literal text with {@code ${...}} placeholders, resolved
     * once at start, and {@code #{...}} SpEL expressions, evaluated for each call with the parameters by their name in the
     * method that is annotated ({@code #id}), {@code #p0} and {@code #a0}, {@code #root.target} and {@code #root.method}. Expressions see values,
     * their properties and methods, but no types or beans; a null in the key, an object without a text of its own, or a
     * blank outcome is an {@link IllegalArgumentException}. Text goes outside of the expressions
     * ({@code tenant-#{#id}}). Default: {@code Type.method(parameter types)} of the place that carries the
     * annotation, with the type's package; {@code Type} alone if that is a type.
     */
    String key() default "";

    /**
     * What settings and metrics call this permit; few and constant, unlike keys. Default: the key if one is
     * given and literal, else {@code Type.method}, without package.
     */
    String name() default "";

    /** How many permits the key has over all instances, 1 to 1,000,000. */
    int limit() default UNSET;

    /**
     * The limit as text: a number or {@code unlimited}, {@code ${...}} placeholders, or {@code #{...}}, evaluated for each call as in
     * {@link #key()}, such as {@code #{#plan == 'premium' ? 10 : 3}}. Then a call gets its permits while no more than its limit are in
     * use, and calls of one key may have different limits; settings win, and their limit is not per call. At most one of this and
     * {@link #limit()} may be given.
     */
    String limitString() default "";

    /** Whether a call waits in the queue when no permit is free; otherwise it is rejected at once. */
    boolean block() default true;

    /**
     * How long a call waits at most, such as {@code 30s}, {@code 500ms} or {@code PT30S}; {@code ${...}} placeholders are
     * resolved. Default: for ever. Has no meaning with {@code block = false}.
     */
    String timeout() default "";

    /** How many of the key's permits one call takes, 1 up to the limit. */
    int permits() default 1;

    /**
     * Name of a method of the same bean that answers instead of a {@link PermitRejectedException}, or {@code bean::method}
     * for a public method of another bean. It has the same return type and the same parameters, optionally followed by one of
     * type {@link PermitRejectedException}. With {@link RuntimeException}, {@link Exception} or {@link Throwable} as that
     * parameter it answers instead of a {@link PermitBackendException} as well. It never answers for what the method itself
     * throws. It runs without any permit; a method of the same bean without advice of its own, one of another bean
     * through that bean's proxy. On a type it is for all public methods; those that are the
     * fallback of one of them are not limited, while other methods of its name are, and need a fallback like all others.
     */
    String fallback() default "";

    /**
     * What happens to a call that gets no permit and has no {@link #fallback()}. A method that returns a primitive value
     * or a reactive type that can't be empty can't be skipped.
     */
    OnReject onReject() default OnReject.DEFAULT;

    /**
     * How long a permit is held at least, such as {@code 10s}, also if the method returns earlier; its caller does not
     * wait for that. Keeps instances whose clocks differ a little from running a short job twice. Where the call has joined
     * the permit of its caller, see {@link #reentrant()}, that call holds it so long. Default: as long as the method runs.
     */
    String holdAtLeast() default "";

    /**
     * What happens to a call while the store does not answer. {@link OnStoreFailure#ALLOW} and {@link OnStoreFailure#LOCAL}
     * let calls run that no other instance counts, so they suit limits that may be exceeded in an outage.
     */
    OnStoreFailure onStoreFailure() default OnStoreFailure.DEFAULT;

    /**
     * Whether a call joins the permit of the same key that its caller has by the annotation or by {@link Permits#run} and its
     * siblings, if that has at least as many permits and is still held: by the thread, and in a method that returns a Reactor
     * type by the Reactor context of the subscriber. Otherwise every call takes a permit of its own. Not for methods that
     * return a future or an asynchronous type of Spring MVC, whose work may outlive that of the caller.
     */
    boolean reentrant() default false;

    /**
     * How much earlier a call is queued than it arrives, such as {@code 30s}, at most an hour: it overtakes calls that have waited for less
     * than that. So a call without a head start is overtaken only by calls that arrive within the head start after it, whatever their
     * number. It does not end calls that run, and has no meaning with {@code block = false}. Placeholders are resolved, and
     * {@code #{...}} is evaluated for each call as in {@link #key()}.
     */
    String headStart() default "";

    /**
     * The group that a call counts in, such as {@code #{#tenant}}; evaluated for each call as in {@link #key()}. The next permit of the
     * key in this instance goes to the group that uses the fewest there, by {@link #fairWeight()}, and within it to the call that came
     * first. Between instances calls are served by age. Default: calls are served in the order in which they came.
     */
    String fairBy() default "";

    /**
     * How many times as many permits the group of a call may have as one with the weight 1, 1 to 1,000; {@code ${...}} and
     * {@code #{...}} as in {@link #key()}. Only with {@link #fairBy()}. Default: 1.
     */
    String fairWeight() default "";

    /**
     * The name of another permit that each call takes as well, after this one: {@code tenant} within {@code report-export}. While a
     * call waits for its tenant's permit, it holds none of the outer one. The outer permit needs no annotation on the method if its
     * key is literal; a call takes as many permits of it as of this one, within the same time-out. A permit lies within the
     * same one everywhere, and at most eight lie within each other. {@code ${...}} placeholders are resolved.
     */
    String within() default "";

    /**
     * Takes a method out of the limit of its annotated type or of an interface. Has no effect on a method that carries
     * {@link DistributedPermit} itself.
     */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Documented
    @interface Exempt {}

    /**
     * What happens to a call whose permit is lost while it runs. {@link OnLoss#INTERRUPT} is for methods that are done when
     * they return.
     */
    OnLoss onLoss() default OnLoss.CONTINUE;
}
