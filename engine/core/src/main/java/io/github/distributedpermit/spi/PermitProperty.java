package io.github.distributedpermit.spi;

/** Names of the properties of one permit, for messages: as they work in a properties file or on a command line. */
public final class PermitProperty {

    private static final String PREFIX = "distributed-permit.permits";

    private PermitProperty() {}

    /**
     * The whole name of a property. Permit names with other characters than letters, digits and dashes stand in brackets.
     *
     * @param permit the name of the permit
     * @param property such as {@code limit}
     */
    public static String of(String permit, String property) {
        boolean plain = permit.matches("[A-Za-z0-9][A-Za-z0-9-]*");
        return PREFIX + (plain ? "." + permit : "[" + visible(permit) + "]") + "." + property;
    }

    /** A properties file reads the escaped form of a control character as that character. */
    private static String visible(String text) {
        StringBuilder visible = new StringBuilder();
        text.chars().forEach(each -> {
            if (Character.isISOControl(each) || each == 0x2028 || each == 0x2029) {
                visible.append("\\u%04x".formatted(each));
            } else {
                visible.append((char) each);
            }
        });
        return visible.toString();
    }
}
